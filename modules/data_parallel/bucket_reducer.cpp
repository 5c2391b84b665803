// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/bucket_reducer.hpp"

#include <algorithm>

#include "src/kernels/elementwise.hpp"

namespace charter {

template <class T>
BucketReducer<T>::BucketReducer(ExecutionQueue& queue, const ParameterList& list,
                                const Communicator& data_axis, const ReducerOptions& options)
    : queue_(&queue),
      list_(&list),
      data_axis_(data_axis),
      gradients_(queue, list, MemoryCategory::gradients, "BucketReducer::gradients"),
      buckets_(plan_buckets(list, gradients_.layout(),
                            options.bucket_bytes / static_cast<std::int64_t>(sizeof(T)))),
      bucket_of_(list.specs.size(), 0) {
  for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    for (const ParameterId id : buckets_[bucket].parameters) bucket_of_[index_of(id)] = bucket;
  }
  // Padding between parameters travels with the buckets: it must be a number.
  kernels::fill<T>(queue, gradients_.flat(), T(0));
}

template <class T>
void BucketReducer<T>::begin_step(const ReducerStep& step) {
  step_ = step;
  micro_batches_begun_ = 0;
  touched_.assign(list_->specs.size(), false);
  unfinished_.clear();
  for (const Bucket& bucket : buckets_) unfinished_.push_back(bucket.parameters.size());
  requests_.clear();
  first_running_ = 0;
}

template <class T>
void BucketReducer<T>::begin_micro_batch(const MicroBatch& batch) {
  require(micro_batches_begun_ < step_.num_micro_batches,
          "a step has as many micro-batches as it began with");
  ++micro_batches_begun_;
  whole_ = {{0, batch.tokens}};
}

template <class T>
GradientTarget<T> BucketReducer<T>::open(ParameterId id, GradientPart /*part*/, std::size_t /*leaf*/) {
  const GradientTarget<T> target{gradients_.tensor(id), touched_[index_of(id)]};
  touched_[index_of(id)] = true;
  return target;
}

template <class T>
void BucketReducer<T>::close(ParameterId id, GradientPart part, std::size_t /*leaf*/) {
  // A tied tensor's head part comes first in backward; the embedding's own part completes it.
  if (micro_batches_begun_ == step_.num_micro_batches && part == GradientPart::own) {
    --unfinished_[bucket_of_[index_of(id)]];
    start_ready_buckets();
  }
  make_progress();
}

template <class T>
void BucketReducer<T>::start_ready_buckets() {
  while (requests_.size() < buckets_.size() && unfinished_[requests_.size()] == 0) {
    const Bucket& bucket = buckets_[requests_.size()];
    const DeviceTensor<T> elements(gradients_.flat().data() + bucket.first, {bucket.last - bucket.first});
    requests_.push_back(data_axis_.iall_reduce(*queue_, elements, ReduceOp::sum));
  }
}

template <class T>
void BucketReducer<T>::make_progress() {
  while (first_running_ < requests_.size() && requests_[first_running_].test()) ++first_running_;
}

template <class T>
void BucketReducer<T>::finish_step() {
  require(micro_batches_begun_ == step_.num_micro_batches,
          "a step has as many micro-batches as it began with");
  // What this rank has no value of (it may have no micro-batch at all) counts as zero.
  for (std::size_t i = 0; i < list_->specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    if (!touched_[i] && wants(id)) kernels::fill<T>(*queue_, gradients_.tensor(id), T(0));
  }
  std::ranges::fill(unfinished_, std::size_t{0});
  start_ready_buckets();
  for (Request& request : requests_) request.wait(*queue_);
  requests_.clear();
}

template class BucketReducer<float>;
template class BucketReducer<double>;

}  // namespace charter
