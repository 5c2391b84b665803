// SPDX-License-Identifier: Apache-2.0
// The size of a global batch: sequences, or tokens. Its text form belongs to src/options.
#pragma once

#include <cstdint>

namespace charter {

struct BatchSize {
  enum class Unit : std::uint8_t { sequences, tokens };
  std::int64_t count = 1;
  Unit unit = Unit::sequences;
  bool operator==(const BatchSize&) const = default;
};

}  // namespace charter
