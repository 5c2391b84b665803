// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/ordered_reducer.hpp"

#include <algorithm>

#include "src/kernels/elementwise.hpp"

namespace charter {
namespace {

// The first element of rank `rank`'s slice when `count` elements are cut over `size` ranks.
std::int64_t slice_begin(std::int64_t count, int size, int rank) {
  return count * rank / size;
}

}  // namespace

template <class T>
OrderedReducer<T>::OrderedReducer(ExecutionQueue& queue, const ParameterList& list,
                                  const Communicator& data_axis)
    : queue_(&queue),
      list_(&list),
      data_axis_(data_axis),
      gradients_(queue, list, MemoryCategory::gradients, "OrderedReducer::gradients"),
      sum_size_(gradients_.layout().size()) {
  for (std::size_t i = 0; i < list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    streams_.push_back({gradients_.layout().offset(id), gradients_.layout().shape(id).size(), {}});
  }
  if (list.head == list.token_embedding) {
    const std::int64_t size = gradients_.layout().shape(list.head).size();
    streams_.push_back({sum_size_, size, {}});
    sum_size_ += size;
  }
  kernels::fill<T>(queue, gradients_.flat(), T(0));
}

template <class T>
typename OrderedReducer<T>::Stream& OrderedReducer<T>::stream(ParameterId id, GradientPart part) {
  return part == GradientPart::tied_head ? streams_.back() : streams_[index_of(id)];
}

template <class T>
DeviceTensor<T> OrderedReducer<T>::part_of(std::size_t place, const Stream& stream) const {
  return DeviceTensor<T>(sums_[place].data() + stream.offset, {stream.size});
}

template <class T>
void OrderedReducer<T>::begin_step(const ReducerStep& step) {
  step_ = step;
  const auto rank = static_cast<std::size_t>(data_axis_.rank());
  require(step.first_position.size() == static_cast<std::size_t>(data_axis_.size()) + 1,
          "a range for every rank");
  const std::int64_t first = step.first_position[rank];
  const std::int64_t last = step.first_position[rank + 1];
  const std::size_t needed = LeafStack::buffers_needed(first, last, step.batch_documents());
  for (std::size_t place = 0; place < needed; ++place) {
    sums_.push_back(make_buffer<T>(*queue_, MemoryCategory::gradients, {sum_size_}, "OrderedReducer::sums"));
    kernels::fill<T>(*queue_, sums_.back().tensor(),
                     T(0));  // padding and frozen parameters travel with the slices
  }
  for (Stream& one : streams_) {
    one.stack.clear();
    one.stack.emplace_back(first, last, step.batch_documents());
  }
}

template <class T>
void OrderedReducer<T>::begin_micro_batch(const MicroBatch& batch) {
  leaves_ = batch.document_ranges();
}

template <class T>
GradientTarget<T> OrderedReducer<T>::open(ParameterId id, GradientPart part, std::size_t /*leaf*/) {
  const Stream& one = stream(id, part);
  return {part_of(one.stack.front().depth(), one).reshape(gradients_.layout().shape(id)), false};
}

template <class T>
void OrderedReducer<T>::close(ParameterId id, GradientPart part, std::size_t /*leaf*/) {
  Stream& one = stream(id, part);
  std::size_t top = one.stack.front().depth();
  for (int merges = one.stack.front().push(); merges > 0; --merges, --top) {
    kernels::add_in_place<T>(*queue_, part_of(top, one), part_of(top - 1, one));
  }
}

template <class T>
void OrderedReducer<T>::finish_step() {
  combine_ranks();
  sums_.clear();
}

// Rank by rank the nodes are known from the positions alone. Slices of bounded size keep the exchange small.
template <class T>
void OrderedReducer<T>::combine_ranks() {
  std::vector<std::vector<TreeNode>> held;
  for (std::size_t rank = 0; rank + 1 < step_.first_position.size(); ++rank) {
    held.push_back(
        canonical_nodes(step_.first_position[rank], step_.first_position[rank + 1], step_.batch_documents()));
  }
  constexpr std::int64_t most_elements = std::int64_t{1} << 22;
  for (std::int64_t first = 0; first < sum_size_; first += most_elements) {
    combine_slices(held, first, std::min(most_elements, sum_size_ - first));
  }
}

template <class T>
void OrderedReducer<T>::combine_slices(const std::vector<std::vector<TreeNode>>& held, std::int64_t first,
                                       std::int64_t count) {
  const int size = data_axis_.size();
  const auto my_rank = static_cast<std::size_t>(data_axis_.rank());
  const std::int64_t my_nodes = static_cast<std::int64_t>(held[my_rank].size());
  const std::int64_t slice =
      slice_begin(count, size, data_axis_.rank() + 1) - slice_begin(count, size, data_axis_.rank());

  // Send to rank r its slice of each of my nodes; receive my slice of everybody's nodes, in rank order: tree
  // order.
  std::vector<std::int64_t> send_counts;
  std::vector<std::int64_t> receive_counts;
  std::vector<TreeNode> nodes;
  for (int rank = 0; rank < size; ++rank) {
    send_counts.push_back(my_nodes * (slice_begin(count, size, rank + 1) - slice_begin(count, size, rank)));
    receive_counts.push_back(static_cast<std::int64_t>(held[static_cast<std::size_t>(rank)].size()) * slice);
    nodes.insert(nodes.end(), held[static_cast<std::size_t>(rank)].begin(),
                 held[static_cast<std::size_t>(rank)].end());
  }
  const auto send =
      make_buffer<T>(*queue_, MemoryCategory::communication, {my_nodes * count}, "OrderedReducer::send");
  const auto received =
      make_buffer<T>(*queue_, MemoryCategory::communication,
                     {static_cast<std::int64_t>(nodes.size()) * slice}, "OrderedReducer::received");
  std::int64_t at = 0;
  for (int rank = 0; rank < size; ++rank) {
    const std::int64_t begin = slice_begin(count, size, rank);
    const std::int64_t extent = slice_begin(count, size, rank + 1) - begin;
    for (std::int64_t place = 0; place < my_nodes; ++place, at += extent) {
      kernels::copy<T>(
          *queue_, DeviceTensor<T>(sums_[static_cast<std::size_t>(place)].data() + first + begin, {extent}),
          DeviceTensor<T>(send.data() + at, {extent}));
    }
  }
  data_axis_.all_to_all_v<T>(*queue_, send.tensor(), send_counts, received.tensor(), receive_counts);
  const auto node = [&](std::size_t place) {
    return DeviceTensor<T>(received.data() + static_cast<std::int64_t>(place) * slice, {slice});
  };
  for (const TreeMerge& merge : merges_to_root(nodes, step_.batch_documents())) {
    kernels::add_in_place<T>(*queue_, node(merge.from), node(merge.into));
  }

  const auto whole = make_buffer<T>(*queue_, MemoryCategory::communication, {count}, "OrderedReducer::whole");
  std::vector<std::int64_t> counts;
  for (int rank = 0; rank < size; ++rank) {
    counts.push_back(slice_begin(count, size, rank + 1) - slice_begin(count, size, rank));
  }
  data_axis_.all_gather_v<T>(*queue_, node(0), whole.tensor(), counts);

  // The part inside the layout is the gradient; the tied head's part behind it is added last.
  const std::int64_t layout_size = gradients_.layout().size();
  const std::int64_t inside = std::clamp<std::int64_t>(layout_size - first, 0, count);
  if (inside > 0) {
    kernels::copy<T>(*queue_, DeviceTensor<T>(whole.data(), {inside}),
                     DeviceTensor<T>(gradients_.flat().data() + first, {inside}));
  }
  if (inside < count) {
    const std::int64_t behind = first + inside - layout_size;
    kernels::add_in_place<T>(
        *queue_, DeviceTensor<T>(whole.data() + inside, {count - inside}),
        DeviceTensor<T>(gradients_.tensor(list_->head).data() + behind, {count - inside}));
  }
  queue_->wait_host();
}

template class OrderedReducer<float>;
template class OrderedReducer<double>;

}  // namespace charter
