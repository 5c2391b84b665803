// SPDX-License-Identifier: Apache-2.0
// The typed end of an option: converts texts to the bound field and back. Used through OptionSet only. The
// supported types are instantiated in option_value.cpp, so that programs compile no parsing code.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/options/option_types.hpp"

namespace charter {

// Legal numbers. long double holds every 64-bit integer exactly on Linux platforms.
struct ValueRange {
  long double low = 0;
  long double high = 0;
  bool low_is_open = false;
};

// The type in which the ends of a range are written for an option of type T.
struct NoNumber {};
template <class T>
struct RangeNumber {
  using type = NoNumber;
};
template <>
struct RangeNumber<int> {
  using type = std::int64_t;
};
template <>
struct RangeNumber<std::int64_t> {
  using type = std::int64_t;
};
template <>
struct RangeNumber<std::uint64_t> {
  using type = std::uint64_t;
};
template <>
struct RangeNumber<float> {
  using type = double;
};
template <>
struct RangeNumber<double> {
  using type = double;
};
template <>
struct RangeNumber<Duration> {
  using type = double;
};
template <>
struct RangeNumber<ByteSize> {
  using type = std::int64_t;
};
template <>
struct RangeNumber<BatchSize> {
  using type = std::int64_t;
};
template <class T>
struct RangeNumber<std::optional<T>> : RangeNumber<T> {};
template <class T>
struct RangeNumber<std::vector<T>> : RangeNumber<T> {};

enum class ValueKind : std::uint8_t { one, repeatable, on_off };

class OptionValue {
 public:
  virtual ~OptionValue() = default;
  virtual ValueKind kind() const = 0;
  // Converts and stores. Throws BadValue and then leaves the field as it was.
  virtual void assign(const std::vector<std::string>& texts) = 0;
  // The canonical form of texts that may be written in another way. Throws BadValue.
  virtual std::vector<std::string> canonical(const std::vector<std::string>& texts) const = 0;
  // The field's present value, canonical.
  virtual std::vector<std::string> texts() const = 0;
  // "1 to 65536", "constant, linear or cosine", "" when every value of the type is legal.
  virtual std::string legal_values() const = 0;
  // What stands for the value in the help: N, X, TEXT, PATH, ...
  virtual std::string placeholder() const = 0;
  // How a value of this type is written, by examples; "" where that goes without saying.
  virtual std::string examples() const = 0;
  virtual void set_range(const ValueRange& range) = 0;
};

template <class T>
std::unique_ptr<OptionValue> bind_value(T& field);

// An enum: `get` gives the index of the present choice, `set` stores one.
std::unique_ptr<OptionValue> bind_choice(std::vector<std::string> names, std::function<std::size_t()> get,
                                         std::function<void(std::size_t)> set);

}  // namespace charter
