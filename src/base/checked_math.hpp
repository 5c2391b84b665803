// SPDX-License-Identifier: Apache-2.0
// Sums and products of sizes that come from files or options. They throw instead of wrapping round.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/error.hpp"

namespace charter {

// a * b. Throws Error(code) naming `what` when the product does not fit 64 bits or an operand is negative.
inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, std::string_view what,
                                ExitCode code = ExitCode::bad_input) {
  std::int64_t product = 0;
  if (a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product)) {
    fail(code, std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                   " is not a size that fits 64 bits");
  }
  return product;
}

// a + b, with the same rules.
inline std::int64_t checked_add(std::int64_t a, std::int64_t b, std::string_view what,
                                ExitCode code = ExitCode::bad_input) {
  std::int64_t sum = 0;
  if (a < 0 || b < 0 || __builtin_add_overflow(a, b, &sum)) {
    fail(code, std::string(what) + ": " + std::to_string(a) + " + " + std::to_string(b) +
                   " is not a size that fits 64 bits");
  }
  return sum;
}

// The product of all extents; 1 for a scalar.
inline std::int64_t checked_product(std::span<const std::int64_t> extents, std::string_view what,
                                    ExitCode code = ExitCode::bad_input) {
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product = checked_mul(product, extent, what, code);
  return product;
}

}  // namespace charter
