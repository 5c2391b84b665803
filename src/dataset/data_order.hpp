// SPDX-License-Identifier: Apache-2.0
// Which samples make up which global batch: a pure function of (samples, split, seed, cursor). The cursor
// counts training samples consumed since the start of the run; it is all that a checkpoint stores of the
// data's position. Every epoch is a new permutation of the training samples; batches run on from one epoch
// into the next, so no sample is ever left over.
#pragma once

#include <cstdint>
#include <vector>

#include "src/base/batch_size.hpp"
#include "src/dataset/data_mixture.hpp"
#include "src/dataset/data_split.hpp"
#include "src/dataset/sample_store.hpp"

namespace charter {

struct GlobalBatch {
  std::int64_t next_cursor = 0;            // where the following batch starts
  std::vector<std::int64_t> samples;       // by position in the batch: index into the store
  std::vector<std::int64_t> input_tokens;  // by position; what plan_step() takes
  std::vector<std::int64_t> loss_tokens;
};

class DataOrder {
 public:
  // Every training sample once an epoch. Throws internal when split and store differ in size.
  DataOrder(SampleStore store, const DataSplit& split, std::uint64_t seed);
  // As the mixture shows them.
  DataOrder(SampleStore store, const DataSplit& split, std::uint64_t seed, DataMixture mixture);

  // The index in the store of the sample that cursor c stands for: epoch c / n, place c mod n of the n that
  // an epoch shows.
  std::int64_t sample(std::int64_t cursor) const;
  std::int64_t epoch(std::int64_t cursor) const { return cursor / mixture_.epoch_size(); }
  const DataMixture& mixture() const { return mixture_; }
  // The cursor after `epochs` whole epochs. Throws configuration when it does not fit 64 bits.
  std::int64_t end_of(std::int64_t epochs) const;

  // The batch that starts at `cursor` and stays below `end` (cursor < end). In sequences: exactly `count` of
  // them, fewer only at `end`. In tokens: samples as long as their input tokens fit `count`, at least one.
  GlobalBatch batch(std::int64_t cursor, const BatchSize& size, std::int64_t end) const;

  // The validation samples with numbers [first, first + count) as a batch, in the split's order.
  GlobalBatch validation_batch(std::int64_t first, std::int64_t count) const;

 private:
  void append(GlobalBatch& batch, std::int64_t sample) const;

  SampleStore store_;
  DataSplit split_;
  DataMixture mixture_;
  std::uint64_t seed_;
};

}  // namespace charter
