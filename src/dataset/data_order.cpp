// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/data_order.hpp"

#include "src/base/checked_math.hpp"
#include "src/base/error.hpp"

namespace charter {

DataOrder::DataOrder(SampleStore store, const DataSplit& split, std::uint64_t seed)
    : DataOrder(std::move(store), split, seed, DataMixture(split)) {}

DataOrder::DataOrder(SampleStore store, const DataSplit& split, std::uint64_t seed, DataMixture mixture)
    : store_(std::move(store)), split_(split), mixture_(std::move(mixture)), seed_(seed) {
  require(split_.training_size() + split_.validation_size() == store_.size(), "a split is of its own store");
}

std::int64_t DataOrder::sample(std::int64_t cursor) const {
  require(cursor >= 0, "a data cursor is not negative");
  const std::int64_t n = mixture_.epoch_size();
  const Permutation of_epoch(n, seed_, Purpose::data_order, static_cast<std::uint64_t>(cursor / n));
  return mixture_.sample(cursor / n, of_epoch(cursor % n));
}

std::int64_t DataOrder::end_of(std::int64_t epochs) const {
  return checked_mul(epochs, mixture_.epoch_size(), "samples of all epochs", ExitCode::configuration);
}

void DataOrder::append(GlobalBatch& batch, std::int64_t sample) const {
  batch.samples.push_back(sample);
  batch.input_tokens.push_back(store_.input_tokens(sample));
  batch.loss_tokens.push_back(store_.loss_tokens(sample));
}

GlobalBatch DataOrder::batch(std::int64_t cursor, const BatchSize& size, std::int64_t end) const {
  require(cursor < end && size.count >= 1, "a batch has room for at least one sample");
  GlobalBatch batch;
  std::int64_t used = 0;
  for (batch.next_cursor = cursor; batch.next_cursor < end; ++batch.next_cursor) {
    const std::int64_t next = sample(batch.next_cursor);
    used += size.unit == BatchSize::Unit::tokens ? store_.input_tokens(next) : 1;
    if (used > size.count && !batch.samples.empty()) break;
    append(batch, next);
  }
  return batch;
}

GlobalBatch DataOrder::validation_batch(std::int64_t first, std::int64_t count) const {
  GlobalBatch batch;
  batch.next_cursor = first + count;
  for (std::int64_t i = first; i < first + count; ++i) append(batch, split_.validation_sample(i));
  return batch;
}

}  // namespace charter
