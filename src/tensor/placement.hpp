// SPDX-License-Identifier: Apache-2.0
// How an activation lies on the tensor axis, as a type. A layer's signature says what it takes and gives; the
// collectives of the tensor axis are the only functions from one placement to another, so a wrong composition
// does not compile.
//   Replicated      every rank of the axis holds the whole [tokens, features]
//   ShardedFeature  each rank holds its slice of the features (or heads) of every token
//   ShardedToken    each rank holds whole features of its slice of the tokens (sequence parallel)
//   Partial         each rank holds a summand of the whole; the sum is pending
#pragma once

#include "src/tensor/tensor.hpp"

namespace charter {

template <class T>
struct Replicated {
  DeviceTensor<T> local;
};

template <class T>
struct ShardedFeature {
  DeviceTensor<T> local;
};

template <class T>
struct ShardedToken {
  DeviceTensor<T> local;
};

template <class T>
struct Partial {
  DeviceTensor<T> local;
};

}  // namespace charter
