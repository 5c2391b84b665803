// SPDX-License-Identifier: Apache-2.0
// The values of options that are more than a number or a text: durations, sizes, batches, times of day. Pure
// conversions between text and value; no option names, no files, no printing.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/batch_size.hpp"

namespace charter {

// Why a text is not a value of its type ("is not an integer"); OptionSet adds the option's name and legal
// values.
class BadValue : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A span of time. Texts: 90, 90s, 1.5h, 15m, 2h, 1d, 1h30m.
struct Duration {
  double seconds = 0.0;
  auto operator<=>(const Duration&) const = default;
};

// A number of bytes. Texts: 4096, 4k (1,000 each), 4Ki (1,024 each), with M, G, T alike and an optional B at
// the end.
struct ByteSize {
  std::int64_t bytes = 0;
  auto operator<=>(const ByteSize&) const = default;
};

// A moment. Texts: ISO 8601 (2026-01-31T23:59, seconds and zone optional; without a zone the local one
// holds), seconds since 1970, or HH:MM, which means the next time that the local clock shows it.
struct WallTime {
  std::int64_t epoch_s = 0;
  auto operator<=>(const WallTime&) const = default;
};

// Text to value. Each throws BadValue.
bool parse_bool(std::string_view text);
std::int64_t parse_integer(std::string_view text);
std::uint64_t parse_unsigned(std::string_view text);
// Finite numbers only; overflow and underflow to zero are refused.
double parse_real(std::string_view text);
Duration parse_duration(std::string_view text);
ByteSize parse_byte_size(std::string_view text);
// 512 sequences, or tokens with the suffix t: 262144t, 500kt, 0.5Mt (k, M, G are powers of 1,000).
BatchSize parse_batch_size(std::string_view text);
// `now_epoch_s` is what HH:MM is counted from. Each rank asks its own clock; where two of them see another
// next HH:MM, because it is just now, the comparison of the ranks' options at the start finds it.
WallTime parse_wall_time(std::string_view text, std::int64_t now_epoch_s);

// Value to its one canonical text, which the parsers above read back to the same value.
std::string format_real(double value);
std::string format_duration(const Duration& value);
std::string format_byte_size(const ByteSize& value);
std::string format_batch_size(const BatchSize& value);
std::string format_wall_time(const WallTime& value);

// "a, b, c"; `none` when there are no texts.
std::string join_texts(const std::vector<std::string>& texts, std::string_view none = "");

}  // namespace charter
