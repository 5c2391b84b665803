// SPDX-License-Identifier: Apache-2.0
#include "src/model/language_head.hpp"

#include <algorithm>
#include <vector>

#include "src/blas/gemm.hpp"

namespace charter {

using blas::Transpose;
using kernels::Store;

template <class T>
TokenLosses<T> make_token_losses(ExecutionQueue& queue, std::int64_t tokens) {
  return {make_buffer<T>(queue, MemoryCategory::activations, {tokens}, "TokenLosses::losses"),
          make_buffer<std::int32_t>(queue, MemoryCategory::activations, {tokens}, "TokenLosses::correct")};
}

namespace {

kernels::VocabularyShard vocabulary_shard(std::int64_t vocabulary, AxisPosition at) {
  const HeldUnits held = held_units(vocabulary, at);
  return {held.first, held.count};
}

}  // namespace

template <class T>
LanguageHead<T>::LanguageHead(const ModelConfig& config, const ParameterList& list, const TensorAxis<T>& axis)
    : config_(&config),
      axis_(&axis),
      norm_(config, list.final_norm),
      head_(list.head),
      part_(list.head == list.token_embedding ? GradientPart::tied_head : GradientPart::own),
      shard_(vocabulary_shard(config.vocabulary, axis.position())) {}

// 2^25 logits a chunk: large enough that adding to the weight's gradient is a small part of the product. The
// same on every rank of the axis, whose shards may differ by one.
template <class T>
std::int64_t LanguageHead<T>::chunk_rows() const {
  constexpr std::int64_t most_logits = std::int64_t{1} << 25;
  const std::int64_t degree = axis_->position().degree;
  const std::int64_t largest_shard = (config_->vocabulary + degree - 1) / degree;
  return std::clamp<std::int64_t>(most_logits / largest_shard / 64 * 64, 64, 4096);
}

template <class T>
typename LanguageHead<T>::Normed LanguageHead<T>::normed(ExecutionQueue& queue,
                                                         const ParameterStore<T>& weights,
                                                         const DeviceTensor<const T>& x) const {
  Normed result;
  result.hidden = make_buffer<T>(queue, MemoryCategory::activations, {x.extent(0), config_->hidden},
                                 "LanguageHead::hidden");
  norm_.forward(queue, weights, x, result.hidden.tensor(), result.saved);
  return result;
}

template <class T>
void LanguageHead<T>::project(ExecutionQueue& queue, const ParameterStore<T>& weights,
                              const DeviceTensor<const T>& hidden, const DeviceTensor<T>& logits) const {
  blas::gemm<T>(queue, Transpose::no, Transpose::yes, hidden.extent(0), shard_.size, config_->hidden, T(1),
                hidden.data(), config_->hidden, weights.tensor(head_).data(), config_->hidden, T(0),
                logits.data(), shard_.size);
}

template <class T>
void LanguageHead<T>::losses_of_rows(ExecutionQueue& queue, const MicroBatch& batch, LeafRange rows,
                                     const DeviceTensor<T>& logits, bool with_gradient,
                                     const TokenLosses<T>& out) const {
  const auto [first, count] = rows;
  const AxisPosition at = axis_->position();
  const auto targets = batch.targets.tensor().rows(first, count);
  const auto loss_weights = batch.loss_weights.tensor().rows(first, count);
  const Shape shape{count, kernels::cross_entropy_terms};
  const auto own = make_buffer<T>(queue, MemoryCategory::workspace, shape, "LanguageHead::terms");
  const auto all =
      make_buffer<T>(queue, MemoryCategory::communication, {at.degree, count, kernels::cross_entropy_terms},
                     "LanguageHead::all_terms");
  kernels::cross_entropy_shard<T>(queue, logits, shard_, targets, loss_weights, with_gradient, own.tensor());
  axis_->gather(queue, own.tensor(), all.tensor(),
                std::vector<std::int64_t>(static_cast<std::size_t>(at.degree), shape.size()));
  const std::optional<double> scale = with_gradient ? std::optional(1.0) : std::nullopt;
  kernels::cross_entropy_merge<T>(
      queue, logits, shard_, targets, loss_weights, {all.tensor(), at.degree, at.index}, scale,
      out.losses.tensor().rows(first, count), out.correct.tensor().rows(first, count));
}

template <class T>
template <class Residual>
void LanguageHead<T>::evaluate(ExecutionQueue& queue, const ParameterStore<T>& weights,
                               const MicroBatch& batch, const Residual& residual,
                               typename Residual::template Rows<const T> x, const TokenLosses<T>& out) const {
  const Normed head = normed(queue, weights, x.local);
  const AllTokens<T> hidden = residual.gather(queue, {head.hidden.tensor()}, "LanguageHead::all_hidden");
  const std::int64_t chunk = std::min(chunk_rows(), batch.tokens);
  const auto logits =
      make_buffer<T>(queue, MemoryCategory::workspace, {chunk, shard_.size}, "LanguageHead::logits");
  for (std::int64_t first = 0; first < batch.tokens; first += chunk) {
    const std::int64_t count = std::min(chunk, batch.tokens - first);
    const DeviceTensor<T> rows = logits.tensor().rows(0, count);
    project(queue, weights, hidden.tokens.local.rows(first, count), rows);
    losses_of_rows(queue, batch, {first, count}, rows, false, out);
  }
}

// The rows of one leaf, chunk by chunk: losses, this rank's summand of d_hidden, and the weight's gradient
// when there is a target.
template <class T>
void LanguageHead<T>::backward_rows(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                    const MicroBatch& batch, const LeafRange& leaf,
                                    const DeviceTensor<const T>& hidden, const DeviceTensor<T>& d_hidden,
                                    const TokenLosses<T>& out, GradientTarget<T>* target) const {
  const std::int64_t chunk = std::min(chunk_rows(), leaf.num_rows);
  const std::int64_t width = config_->hidden;
  const auto logits =
      make_buffer<T>(queue, MemoryCategory::workspace, {chunk, shard_.size}, "LanguageHead::logits");
  for (std::int64_t done = 0; done < leaf.num_rows; done += chunk) {
    const std::int64_t first = leaf.first_row + done;
    const std::int64_t count = std::min(chunk, leaf.num_rows - done);
    const DeviceTensor<T> rows = logits.tensor().rows(0, count);
    project(queue, weights, hidden.rows(first, count), rows);
    losses_of_rows(queue, batch, {first, count}, rows, true, out);
    blas::gemm<T>(queue, Transpose::no, Transpose::no, count, width, shard_.size, T(1), rows.data(),
                  shard_.size, weights.tensor(head_).data(), width, T(0), d_hidden.rows(first, count).data(),
                  width);
    if (target == nullptr) continue;
    blas::gemm<T>(queue, Transpose::yes, Transpose::no, shard_.size, width, count, T(1), rows.data(),
                  shard_.size, hidden.rows(first, count).data(), width, target->accumulate ? T(1) : T(0),
                  target->gradient.data(), width);
    target->accumulate = true;
  }
}

template <class T>
template <class Residual>
DeviceBuffer<T> LanguageHead<T>::backward(ExecutionQueue& queue, const ParameterStore<T>& weights,
                                          const MicroBatch& batch, const Residual& residual,
                                          typename Residual::template Rows<const T> x,
                                          const TokenLosses<T>& out, GradientSink<T>& sink) const {
  const Normed head = normed(queue, weights, x.local);
  DeviceBuffer<T> d_x = make_buffer<T>(queue, MemoryCategory::activations, {residual.rows(), config_->hidden},
                                       "LanguageHead::d_x");
  DeviceBuffer<T> summands = make_buffer<T>(queue, MemoryCategory::activations,
                                            {batch.tokens, config_->hidden}, "LanguageHead::d_hidden");
  {
    const AllTokens<T> hidden = residual.gather(queue, {head.hidden.tensor()}, "LanguageHead::all_hidden");
    for (std::size_t leaf = 0; leaf < sink.leaves().size(); ++leaf) {
      const bool wanted = sink.wants(head_);
      GradientTarget<T> target;
      if (wanted) target = sink.open(head_, part_, leaf);
      backward_rows(queue, weights, batch, sink.leaves()[leaf], hidden.tokens.local, summands.tensor(), out,
                    wanted ? &target : nullptr);
      if (wanted) sink.close(head_, part_, leaf);
    }
  }
  const DeviceBuffer<T> d_normed = residual.sum(queue, std::move(summands), "LanguageHead::d_normed");
  norm_.backward_weight(queue, residual, {d_normed.tensor()}, x, head.saved, sink);
  norm_.backward_input(queue, weights, d_normed.tensor(), x.local, head.saved, d_x.tensor(), Store::replace);
  return d_x;
}

template <class T>
void LanguageHead<T>::logits(ExecutionQueue& queue, const ParameterStore<T>& weights, Replicated<const T> x,
                             const DeviceTensor<T>& logits) const {
  require(x.local.extent(0) == 1 && logits.size() == config_->vocabulary, "logits of one row");
  const Normed head = normed(queue, weights, x.local);
  const auto own = make_buffer<T>(queue, MemoryCategory::workspace, {1, shard_.size}, "LanguageHead::logits");
  project(queue, weights, head.hidden.tensor(), own.tensor());
  const std::int64_t degree = axis_->position().degree;
  std::vector<std::int64_t> counts;
  for (std::int64_t index = 0; index < degree; ++index)
    counts.push_back(held_units(config_->vocabulary, {degree, index}).count);
  axis_->gather(queue, own.tensor(), logits, counts);
}

template TokenLosses<float> make_token_losses<float>(ExecutionQueue&, std::int64_t);
template TokenLosses<double> make_token_losses<double>(ExecutionQueue&, std::int64_t);
#define CHARTER_INSTANTIATE_FOR(T, Residual, Placement)                                                     \
  template void LanguageHead<T>::evaluate(ExecutionQueue&, const ParameterStore<T>&, const MicroBatch&,     \
                                          const Residual<T>&, Placement<const T>, const TokenLosses<T>&)    \
      const;                                                                                                \
  template DeviceBuffer<T> LanguageHead<T>::backward(                                                       \
      ExecutionQueue&, const ParameterStore<T>&, const MicroBatch&, const Residual<T>&, Placement<const T>, \
      const TokenLosses<T>&, GradientSink<T>&) const;
#define CHARTER_INSTANTIATE(T)                          \
  template class LanguageHead<T>;                       \
  CHARTER_INSTANTIATE_FOR(T, WholeResidual, Replicated) \
  CHARTER_INSTANTIATE_FOR(T, ShardedResidual, ShardedToken)
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE
#undef CHARTER_INSTANTIATE_FOR

}  // namespace charter
