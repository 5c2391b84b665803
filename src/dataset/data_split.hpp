// SPDX-License-Identifier: Apache-2.0
// Which samples are held out for validation: a pure function of (number of samples, how many, seed), so that
// a restart on any number of ranks holds out the same ones. Stores no list.
#pragma once

#include <cstdint>

#include "src/random/permutation.hpp"

namespace charter {

class DataSplit {
 public:
  // Exactly `validation` of `samples` are held out. Throws configuration unless at least one is left for
  // training.
  DataSplit(std::int64_t samples, std::int64_t validation, std::uint64_t seed);

  std::int64_t training_size() const { return permutation_.size() - validation_; }
  std::int64_t validation_size() const { return validation_; }
  // The sample with number i of its part, i from 0. Training samples are not yet in an order to train in: see
  // data_order.hpp.
  std::int64_t training_sample(std::int64_t i) const { return permutation_(validation_ + i); }
  std::int64_t validation_sample(std::int64_t i) const { return permutation_(i); }
  bool is_validation(std::int64_t sample) const { return permutation_.inverse(sample) < validation_; }

 private:
  std::int64_t validation_;
  Permutation permutation_;
};

// How many samples --validation-fraction asks for: the nearest whole number, at least one when the fraction
// is above zero. Throws usage unless 0 <= fraction < 1.
std::int64_t validation_count(std::int64_t samples, double fraction);

}  // namespace charter
