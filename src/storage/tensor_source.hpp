// SPDX-License-Identifier: Apache-2.0
// Named tensors in a file, whatever its format, read piece by piece as float32. Nothing is read before it is
// asked for, so a rank reads only its own shard.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/data_type.hpp"

namespace charter {

struct TensorInfo {
  std::string name;
  DataType type = DataType::f32;
  std::vector<std::int64_t> shape;
  // False for an element type that cannot be read as float32 (integers, F8, K-quants): `type` then means
  // nothing, and read() refuses with the type's name.
  bool readable = true;
};

class TensorSource {
 public:
  virtual ~TensorSource() = default;
  // Every tensor, in the order of the file; all extents and offsets have been checked against the file's
  // size.
  virtual const std::vector<TensorInfo>& tensors() const = 0;
  // Elements [first, first + out.size()) of the tensor in row-major order, converted to float32. `first` and
  // the count may be anything; whole blocks (multiples of 32) are fastest for block-quantised types. Safe to
  // call from several threads. Throws missing_input when there is no such tensor, bad_input when it is not
  // readable, internal when the range is outside.
  virtual void read(const std::string& name, std::int64_t first, std::span<float> out) const = 0;
};

}  // namespace charter
