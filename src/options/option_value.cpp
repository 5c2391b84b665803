// SPDX-License-Identifier: Apache-2.0
#include "src/options/option_value.hpp"

#include <cmath>
#include <ctime>
#include <filesystem>
#include <limits>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

using Path = std::filesystem::path;

// Codec<T>: text to T, T to canonical text, the number that a range limits, the placeholder in the help, and
// examples where the way of writing needs them.
template <class T>
struct Codec;

template <>
struct Codec<bool> {
  static constexpr const char* placeholder = "";
  static bool parse(const std::string& text) { return parse_bool(text); }
  static std::string format(bool value) { return value ? "true" : "false"; }
};
template <>
struct Codec<std::int64_t> {
  static constexpr const char* placeholder = "N";
  static std::int64_t parse(const std::string& text) { return parse_integer(text); }
  static std::string format(std::int64_t value) { return fmt::format("{}", value); }
  static long double number(std::int64_t value) { return static_cast<long double>(value); }
};
template <>
struct Codec<int> {
  static constexpr const char* placeholder = "N";
  static int parse(const std::string& text) {
    const std::int64_t value = parse_integer(text);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max()) {
      throw BadValue("does not fit 32 bits");
    }
    return static_cast<int>(value);
  }
  static std::string format(int value) { return fmt::format("{}", value); }
  static long double number(int value) { return static_cast<long double>(value); }
};
template <>
struct Codec<std::uint64_t> {
  static constexpr const char* placeholder = "N";
  static std::uint64_t parse(const std::string& text) { return parse_unsigned(text); }
  static std::string format(std::uint64_t value) { return fmt::format("{}", value); }
  static long double number(std::uint64_t value) { return static_cast<long double>(value); }
};
template <>
struct Codec<double> {
  static constexpr const char* placeholder = "X";
  static double parse(const std::string& text) { return parse_real(text); }
  static std::string format(double value) { return format_real(value); }
  static long double number(double value) { return static_cast<long double>(value); }
};
template <>
struct Codec<float> {
  static constexpr const char* placeholder = "X";
  static float parse(const std::string& text) {
    const double value = parse_real(text);
    const auto narrow = static_cast<float>(value);
    if (!std::isfinite(narrow) || (narrow == 0.0F && value != 0.0)) {
      throw BadValue("is out of the range of 32-bit floats");
    }
    return narrow;
  }
  static std::string format(float value) { return fmt::format("{}", value); }
  static long double number(float value) { return static_cast<long double>(value); }
};
template <>
struct Codec<std::string> {
  static constexpr const char* placeholder = "TEXT";
  static std::string parse(const std::string& text) { return text; }
  static std::string format(const std::string& value) { return value; }
};
template <>
struct Codec<Path> {
  static constexpr const char* placeholder = "PATH";
  static Path parse(const std::string& text) {
    if (text.empty()) throw BadValue("is empty");
    return text;
  }
  static std::string format(const Path& value) { return value.string(); }
};
template <>
struct Codec<Duration> {
  static constexpr const char* placeholder = "TIME";
  static constexpr const char* examples = "90, 90s, 15m, 1.5h, 1h30m or 2d";
  static Duration parse(const std::string& text) { return parse_duration(text); }
  static std::string format(const Duration& value) { return format_duration(value); }
  static long double number(const Duration& value) { return static_cast<long double>(value.seconds); }
};
template <>
struct Codec<ByteSize> {
  static constexpr const char* placeholder = "BYTES";
  static constexpr const char* examples = "4096, 64k (1,000 each), 64Ki (1,024 each), 1.5G or 2GiB";
  static ByteSize parse(const std::string& text) { return parse_byte_size(text); }
  static std::string format(const ByteSize& value) { return format_byte_size(value); }
  static long double number(const ByteSize& value) { return static_cast<long double>(value.bytes); }
};
template <>
struct Codec<BatchSize> {
  static constexpr const char* placeholder = "N|Nt";
  static constexpr const char* examples = "512 (sequences), 262144t, 500kt or 0.5Mt (tokens)";
  static BatchSize parse(const std::string& text) { return parse_batch_size(text); }
  static std::string format(const BatchSize& value) { return format_batch_size(value); }
  static long double number(const BatchSize& value) { return static_cast<long double>(value.count); }
};
template <>
struct Codec<WallTime> {
  static constexpr const char* placeholder = "MOMENT";
  static constexpr const char* examples =
      "23:59 (the next one), 2026-01-31T23:59, 2026-01-31T23:59:00Z or seconds since 1970";
  static WallTime parse(const std::string& text) {
    return parse_wall_time(text, static_cast<std::int64_t>(std::time(nullptr)));
  }
  static std::string format(const WallTime& value) { return format_wall_time(value); }
};

template <class T>
concept Ranged = requires(const T& value) {
  Codec<T>::number(value);
};

template <class T>
concept WrittenInItsOwnWay = requires {
  Codec<T>::examples;
};

// What all bindings to elements of type T share: the range and the conversion of one text.
template <class T>
class TypedValue : public OptionValue {
 public:
  std::string placeholder() const override { return Codec<T>::placeholder; }
  std::string examples() const override {
    if constexpr (WrittenInItsOwnWay<T>) return Codec<T>::examples;
    return "";
  }
  void set_range(const ValueRange& range) override { range_ = range; }
  std::string legal_values() const override {
    if (!range_) return "";
    const std::string low = end_text(range_->low);
    const std::string high = end_text(range_->high);
    return range_->low_is_open ? fmt::format("above {}, up to {}", low, high)
                               : fmt::format("{} to {}", low, high);
  }

 protected:
  T convert(const std::string& text) const {
    T value = Codec<T>::parse(text);
    if constexpr (Ranged<T>) {
      if (range_) {
        const long double number = Codec<T>::number(value);
        const bool too_low = range_->low_is_open ? number <= range_->low : number < range_->low;
        if (too_low || number > range_->high) throw BadValue(too_low ? "is too small" : "is too large");
      }
    }
    return value;
  }

 private:
  static std::string end_text(long double end) {
    if constexpr (std::is_same_v<T, Duration>) return format_duration({static_cast<double>(end)});
    if constexpr (std::is_floating_point_v<T>) return format_real(static_cast<double>(end));
    return fmt::format("{:.0f}", end);
  }
  std::optional<ValueRange> range_;
};

template <class T>
class ScalarValue final : public TypedValue<T> {
 public:
  explicit ScalarValue(T& field) : field_(&field) {}
  ValueKind kind() const override { return std::is_same_v<T, bool> ? ValueKind::on_off : ValueKind::one; }
  void assign(const std::vector<std::string>& texts) override { *field_ = this->convert(texts.at(0)); }
  std::vector<std::string> canonical(const std::vector<std::string>& texts) const override {
    return {Codec<T>::format(this->convert(texts.at(0)))};
  }
  std::vector<std::string> texts() const override {
    // An empty path is a path that nobody has set.
    if constexpr (std::is_same_v<T, Path>) {
      if (field_->empty()) return {};
    }
    return {Codec<T>::format(*field_)};
  }

 private:
  T* field_;
};

template <class T>
class OptionalValue final : public TypedValue<T> {
 public:
  explicit OptionalValue(std::optional<T>& field) : field_(&field) {}
  ValueKind kind() const override { return ValueKind::one; }
  void assign(const std::vector<std::string>& texts) override { *field_ = this->convert(texts.at(0)); }
  std::vector<std::string> canonical(const std::vector<std::string>& texts) const override {
    return {Codec<T>::format(this->convert(texts.at(0)))};
  }
  std::vector<std::string> texts() const override {
    if (!field_->has_value()) return {};
    return {Codec<T>::format(**field_)};
  }

 private:
  std::optional<T>* field_;
};

template <class T>
class ListValue final : public TypedValue<T> {
 public:
  explicit ListValue(std::vector<T>& field) : field_(&field) {}
  ValueKind kind() const override { return ValueKind::repeatable; }
  void assign(const std::vector<std::string>& texts) override { *field_ = convert_all(texts); }
  std::vector<std::string> canonical(const std::vector<std::string>& texts) const override {
    return format_all(convert_all(texts));
  }
  std::vector<std::string> texts() const override { return format_all(*field_); }

 private:
  std::vector<T> convert_all(const std::vector<std::string>& texts) const {
    std::vector<T> values;
    for (const std::string& text : texts) values.push_back(this->convert(text));
    return values;
  }
  static std::vector<std::string> format_all(const std::vector<T>& values) {
    std::vector<std::string> texts;
    for (const T& value : values) texts.push_back(Codec<T>::format(value));
    return texts;
  }
  std::vector<T>* field_;
};

class ChoiceValue final : public OptionValue {
 public:
  ChoiceValue(std::vector<std::string> names, std::function<std::size_t()> get,
              std::function<void(std::size_t)> set)
      : names_(std::move(names)), get_(std::move(get)), set_(std::move(set)) {
    require(get_() < names_.size(), "the default of a choice is one of its choices");
  }
  ValueKind kind() const override { return ValueKind::one; }
  void assign(const std::vector<std::string>& texts) override { set_(index_of(texts.at(0))); }
  std::vector<std::string> canonical(const std::vector<std::string>& texts) const override {
    return {names_[index_of(texts.at(0))]};
  }
  std::vector<std::string> texts() const override { return {names_.at(get_())}; }
  std::string legal_values() const override {
    std::string list;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i > 0) list += i + 1 == names_.size() ? " or " : ", ";
      list += names_[i];
    }
    return list;
  }
  std::string placeholder() const override { return "NAME"; }
  std::string examples() const override { return ""; }
  void set_range(const ValueRange&) override { require(false, "a choice has no range"); }

 private:
  std::size_t index_of(const std::string& text) const {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (names_[i] == text) return i;
    }
    throw BadValue("is not one of its choices");
  }
  std::vector<std::string> names_;
  std::function<std::size_t()> get_;
  std::function<void(std::size_t)> set_;
};

std::unique_ptr<OptionValue> bind(auto& field) {
  return std::make_unique<ScalarValue<std::remove_reference_t<decltype(field)>>>(field);
}
template <class T>
std::unique_ptr<OptionValue> bind(std::optional<T>& field) {
  return std::make_unique<OptionalValue<T>>(field);
}
template <class T>
std::unique_ptr<OptionValue> bind(std::vector<T>& field) {
  return std::make_unique<ListValue<T>>(field);
}

}  // namespace

template <class T>
std::unique_ptr<OptionValue> bind_value(T& field) {
  return bind(field);
}

std::unique_ptr<OptionValue> bind_choice(std::vector<std::string> names, std::function<std::size_t()> get,
                                         std::function<void(std::size_t)> set) {
  return std::make_unique<ChoiceValue>(std::move(names), std::move(get), std::move(set));
}

template std::unique_ptr<OptionValue> bind_value(bool&);
template std::unique_ptr<OptionValue> bind_value(int&);
template std::unique_ptr<OptionValue> bind_value(std::int64_t&);
template std::unique_ptr<OptionValue> bind_value(std::uint64_t&);
template std::unique_ptr<OptionValue> bind_value(float&);
template std::unique_ptr<OptionValue> bind_value(double&);
template std::unique_ptr<OptionValue> bind_value(std::string&);
template std::unique_ptr<OptionValue> bind_value(Path&);
template std::unique_ptr<OptionValue> bind_value(Duration&);
template std::unique_ptr<OptionValue> bind_value(ByteSize&);
template std::unique_ptr<OptionValue> bind_value(BatchSize&);
template std::unique_ptr<OptionValue> bind_value(WallTime&);
template std::unique_ptr<OptionValue> bind_value(std::optional<int>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<std::int64_t>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<std::uint64_t>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<float>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<double>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<std::string>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<Path>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<Duration>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<ByteSize>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<BatchSize>&);
template std::unique_ptr<OptionValue> bind_value(std::optional<WallTime>&);
template std::unique_ptr<OptionValue> bind_value(std::vector<std::int64_t>&);
template std::unique_ptr<OptionValue> bind_value(std::vector<double>&);
template std::unique_ptr<OptionValue> bind_value(std::vector<std::string>&);
template std::unique_ptr<OptionValue> bind_value(std::vector<Path>&);

}  // namespace charter
