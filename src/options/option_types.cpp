// SPDX-License-Identifier: Apache-2.0
#include "src/options/option_types.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

#include <fmt/format.h>

namespace charter {
namespace {

constexpr std::string_view does_not_fit = "does not fit 64 bits";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// from_chars knows no leading plus.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && (is_digit(text[1]) || text[1] == '.')) text.remove_prefix(1);
  return text;
}

template <class T>
T parse_whole(std::string_view text, const char* what) {
  const std::string_view digits = without_plus(text);
  T value{};
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error == std::errc::invalid_argument || end != digits.data() + digits.size()) {
    throw BadValue(what);
  }
  if (error == std::errc::result_out_of_range) throw BadValue(std::string(does_not_fit));
  return value;
}

// A real number at the start of `text`, which loses it.
double take_real(std::string_view& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument) throw BadValue("is not a number");
  if (error == std::errc::result_out_of_range) throw BadValue("is out of the range of 64-bit floats");
  if (!std::isfinite(value)) throw BadValue("is not a finite number");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// digits[.digits] times factor, exact: 0.5 x 1000 = 500, and 0.0005 x 1000 is refused.
std::int64_t parse_scaled(std::string_view text, std::int64_t factor, const char* what) {
  const std::string_view digits = without_plus(text);
  const std::size_t point = digits.find('.');
  const std::string_view whole = digits.substr(0, point);
  const std::string_view part = point == std::string_view::npos ? "" : digits.substr(point + 1);
  for (const std::string_view side : {whole, part}) {
    for (const char c : side) {
      if (!is_digit(c)) throw BadValue(what);
    }
  }
  if (whole.empty() || (point != std::string_view::npos && part.empty())) throw BadValue(what);
  std::int64_t total = 0;
  if (__builtin_mul_overflow(parse_whole<std::int64_t>(whole, what), factor, &total)) {
    throw BadValue(std::string(does_not_fit));
  }
  std::int64_t unit = factor;
  for (const char c : part) {
    if (unit % 10 != 0 && c != '0') throw BadValue("is not a whole number");
    unit /= 10;
    if (__builtin_add_overflow(total, unit * (c - '0'), &total)) throw BadValue(std::string(does_not_fit));
  }
  return total;
}

// Cuts a decimal suffix k, M, G or T (K is taken for k) off the end of `text` and returns its power of 1,000.
std::int64_t take_decimal_suffix(std::string_view& text) {
  constexpr std::string_view letters = "kMGT";
  if (text.empty()) return 1;
  const std::size_t place = letters.find(text.back() == 'K' ? 'k' : text.back());
  if (place == std::string_view::npos) return 1;
  text.remove_suffix(1);
  std::int64_t factor = 1000;
  for (std::size_t power = 0; power < place; ++power) factor *= 1000;
  return factor;
}

}  // namespace

bool parse_bool(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  throw BadValue("is neither true nor false");
}

std::int64_t parse_integer(std::string_view text) {
  return parse_whole<std::int64_t>(text, "is not an integer");
}

std::uint64_t parse_unsigned(std::string_view text) {
  return parse_whole<std::uint64_t>(text, "is not an integer from 0 on");
}

double parse_real(std::string_view text) {
  std::string_view rest = without_plus(text);
  const double value = take_real(rest);
  if (!rest.empty()) throw BadValue("is not a number");
  return value;
}

Duration parse_duration(std::string_view text) {
  constexpr const char* what = "is not a duration such as 90, 90s, 15m, 2h or 1h30m";
  std::string_view rest = without_plus(text);
  if (rest.empty() || !is_digit(rest[0])) throw BadValue(what);
  double seconds = 0;
  double last_unit = std::numeric_limits<double>::infinity();
  const std::size_t first_unit = rest.find_first_of("smhd");
  const bool several = first_unit != std::string_view::npos && first_unit + 1 < rest.size();
  while (!rest.empty()) {
    if (!is_digit(rest[0])) throw BadValue(what);
    const double number = take_real(rest);
    if (rest.empty() && several) throw BadValue(what);
    double unit = 1;
    if (!rest.empty()) {
      switch (rest[0]) {
        case 's':
          unit = 1;
          break;
        case 'm':
          unit = 60;
          break;
        case 'h':
          unit = 3600;
          break;
        case 'd':
          unit = 86400;
          break;
        default:
          throw BadValue(what);
      }
      rest.remove_prefix(1);
    }
    if (unit >= last_unit) throw BadValue(what);
    last_unit = unit;
    seconds += number * unit;
  }
  if (!std::isfinite(seconds)) throw BadValue("is out of the range of 64-bit floats");
  return {seconds};
}

ByteSize parse_byte_size(std::string_view text) {
  constexpr const char* what = "is not a number of bytes such as 4096, 64Ki, 1.5G or 2GiB";
  std::string_view rest = text;
  if (!rest.empty() && rest.back() == 'B') rest.remove_suffix(1);
  const bool binary = !rest.empty() && rest.back() == 'i';
  if (binary) rest.remove_suffix(1);
  std::int64_t factor = take_decimal_suffix(rest);
  if (binary) {
    if (factor == 1) throw BadValue(what);
    std::int64_t power = 1;
    for (; factor > 1; factor /= 1000) power *= 1024;
    // Decimal places of a power of two: exact in a double as long as the product is a whole number below
    // 2^53.
    const std::size_t point = rest.find('.');
    if (point == std::string_view::npos) return {parse_scaled(rest, power, what)};
    const double value = parse_real(rest) * static_cast<double>(power);
    if (value < 0 || value >= 0x1p53 || value != std::floor(value)) throw BadValue(what);
    return {static_cast<std::int64_t>(value)};
  }
  return {parse_scaled(rest, factor, what)};
}

BatchSize parse_batch_size(std::string_view text) {
  constexpr const char* what = "is not a batch such as 512 (sequences), 262144t or 0.5Mt (tokens)";
  std::string_view rest = text;
  BatchSize batch;
  if (!rest.empty() && rest.back() == 't') {
    batch.unit = BatchSize::Unit::tokens;
    rest.remove_suffix(1);
  }
  const std::int64_t factor = take_decimal_suffix(rest);
  batch.count = parse_scaled(rest, factor, what);
  return batch;
}

std::string format_real(double value) {
  return fmt::format("{}", value);
}

std::string format_duration(const Duration& value) {
  const double seconds = value.seconds;
  for (const auto& [unit, letter] : {std::pair{3600.0, 'h'}, std::pair{60.0, 'm'}}) {
    const double count = seconds / unit;
    if (seconds > 0 && count == std::floor(count) && count < 1e6 && count * unit == seconds) {
      return fmt::format("{}{}", static_cast<std::int64_t>(count), letter);
    }
  }
  return fmt::format("{}s", seconds);
}

std::string format_byte_size(const ByteSize& value) {
  return fmt::format("{}", value.bytes);
}

std::string format_batch_size(const BatchSize& value) {
  return fmt::format("{}{}", value.count, value.unit == BatchSize::Unit::tokens ? "t" : "");
}

std::string join_texts(const std::vector<std::string>& texts, std::string_view none) {
  if (texts.empty()) return std::string(none);
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : ", ") + text;
  return all;
}

}  // namespace charter
