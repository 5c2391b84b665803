// SPDX-License-Identifier: Apache-2.0
#include "src/storage/safetensors_header.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "src/base/checked_math.hpp"
#include "src/base/json.hpp"

namespace charter {
namespace {

struct ElementType {
  std::string_view name;
  std::int64_t bits;
  std::optional<DataType> readable;
};

constexpr std::array<ElementType, 22> element_types{{
    {"F32", 32, DataType::f32},       {"F16", 16, DataType::f16},   {"BF16", 16, DataType::bf16},
    {"F64", 64, std::nullopt},        {"I64", 64, std::nullopt},    {"U64", 64, std::nullopt},
    {"C64", 64, std::nullopt},        {"I32", 32, std::nullopt},    {"U32", 32, std::nullopt},
    {"I16", 16, std::nullopt},        {"U16", 16, std::nullopt},    {"I8", 8, std::nullopt},
    {"U8", 8, std::nullopt},          {"BOOL", 8, std::nullopt},    {"F8_E5M2", 8, std::nullopt},
    {"F8_E4M3", 8, std::nullopt},     {"F8_E8M0", 8, std::nullopt}, {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt}, {"F6_E2M3", 6, std::nullopt}, {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt},
}};

// Receives the parser's events. The format has three levels: names, fields, lists of numbers.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  HeaderReader(std::int64_t data_bytes, const std::string& where) : data_bytes_(data_bytes), where_(where) {}

  SafetensorsHeader take() { return std::move(header_); }

  bool null() override { refuse("null is not allowed"); }
  bool boolean(bool) override { refuse("true and false are not allowed"); }
  bool binary(binary_t&) override { refuse("binary is not allowed"); }
  bool number_integer(number_integer_t value) override { refuse(fmt::format("{} is negative", value)); }
  bool number_float(number_float_t, const string_t& text) override {
    refuse(fmt::format("{} is not a whole number that fits 63 bits", text));
  }
  bool number_unsigned(number_unsigned_t value) override;
  bool string(string_t& value) override;
  bool start_object(std::size_t) override;
  bool key(string_t& name) override;
  bool end_object() override;
  bool start_array(std::size_t) override;
  bool end_array() override;
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    fail(ExitCode::bad_input,
         fmt::format("{}: the header is not valid JSON at byte {}: {}", where_, position + 8, error.what()));
  }

 private:
  enum class Level { outside, names, tensor, metadata, shape, offsets };

  [[noreturn]] void refuse(const std::string& what) const {
    const std::string place = entry_.name.empty() ? std::string("header") : "tensor " + entry_.name;
    fail(ExitCode::bad_input,
         fmt::format("{}: {}: {}{}", where_, place, field_.empty() ? "" : field_ + ": ", what));
  }
  void finish_tensor();
  const ElementType& known_type() const;

  std::int64_t data_bytes_;
  const std::string& where_;
  SafetensorsHeader header_;
  Level level_ = Level::outside;
  SafetensorsEntry entry_;
  std::string field_;
  std::vector<std::int64_t> offsets_;
  bool has_shape_ = false;
  std::int64_t claimed_bytes_ = 0;  // of all tensors so far
  std::unordered_set<std::string> names_;
  std::unordered_set<std::string> metadata_keys_;
};

bool HeaderReader::number_unsigned(number_unsigned_t value) {
  if (level_ != Level::shape && level_ != Level::offsets) {
    refuse(fmt::format("the number {} is not expected here", value));
  }
  if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
    refuse(fmt::format("{} does not fit 63 bits", value));
  }
  auto& list = level_ == Level::shape ? entry_.shape : offsets_;
  if (level_ == Level::offsets && list.size() == 2) refuse("expected [begin, end], found a third number");
  list.push_back(static_cast<std::int64_t>(value));
  return true;
}

bool HeaderReader::string(string_t& value) {
  if (level_ == Level::metadata) {
    header_.metadata.emplace_back(field_, value);
    field_.clear();
    return true;
  }
  if (level_ != Level::tensor || field_ != "dtype") refuse("text is not expected here");
  entry_.type_name = value;
  field_.clear();
  return true;
}

bool HeaderReader::start_object(std::size_t) {
  if (level_ == Level::outside) {
    level_ = Level::names;
  } else if (level_ == Level::names) {
    level_ = entry_.name == "__metadata__" ? Level::metadata : Level::tensor;
  } else {
    refuse("an object is not expected here: the format nests no deeper than name, field, list");
  }
  return true;
}

bool HeaderReader::key(string_t& name) {
  if (level_ == Level::names) {
    if (!names_.insert(name).second) refuse(fmt::format("duplicate key \"{}\": a tensor stands twice", name));
    entry_ = {};
    entry_.name = name;
    offsets_.clear();
    has_shape_ = false;
    return true;
  }
  field_ = name;
  if (level_ == Level::metadata) {
    if (!metadata_keys_.insert(name).second) refuse("duplicate key");
    return true;
  }
  const bool repeated = (name == "dtype" && !entry_.type_name.empty()) || (name == "shape" && has_shape_) ||
                        (name == "data_offsets" && !offsets_.empty());
  if (repeated) refuse("duplicate key");
  if (name != "dtype" && name != "shape" && name != "data_offsets") {
    refuse("unknown field; the format has dtype, shape and data_offsets");
  }
  return true;
}

bool HeaderReader::end_object() {
  if (level_ == Level::names) {
    level_ = Level::outside;
  } else {
    field_.clear();
    if (level_ == Level::tensor) finish_tensor();
    entry_ = {};
    level_ = Level::names;
  }
  return true;
}

bool HeaderReader::start_array(std::size_t) {
  if (level_ == Level::tensor && field_ == "shape") {
    level_ = Level::shape;
    has_shape_ = true;
  } else if (level_ == Level::tensor && field_ == "data_offsets") {
    level_ = Level::offsets;
  } else {
    refuse("a list is not expected here: the format nests no deeper than name, field, list");
  }
  return true;
}

bool HeaderReader::end_array() {
  if (level_ == Level::offsets && offsets_.size() != 2) refuse("expected [begin, end]");
  field_.clear();
  level_ = Level::tensor;
  return true;
}

const ElementType& HeaderReader::known_type() const {
  for (const ElementType& known : element_types) {
    if (known.name == entry_.type_name) return known;
  }
  refuse(fmt::format("unknown dtype \"{}\"", entry_.type_name));
}

void HeaderReader::finish_tensor() {
  if (entry_.type_name.empty() || !has_shape_ || offsets_.empty()) {
    refuse("dtype, shape and data_offsets are all needed");
  }
  const ElementType& type = known_type();
  entry_.type = type.readable;
  entry_.begin = offsets_[0];
  entry_.end = offsets_[1];
  if (entry_.end < entry_.begin) {
    refuse(fmt::format("data_offsets [{}, {}] run backwards", entry_.begin, entry_.end));
  }
  const std::string what = fmt::format("{}: tensor {}: shape [{}] of {}", where_, entry_.name,
                                       fmt::join(entry_.shape, ", "), entry_.type_name);
  const std::int64_t bits = checked_mul(checked_product(entry_.shape, what), type.bits, what);
  if (bits % 8 != 0) fail(ExitCode::bad_input, fmt::format("{}: {} bits are not whole bytes", what, bits));
  if (bits / 8 != entry_.end - entry_.begin) {
    fail(ExitCode::bad_input, fmt::format("{}: needs {} bytes, data_offsets [{}, {}] give {}", what, bits / 8,
                                          entry_.begin, entry_.end, entry_.end - entry_.begin));
  }
  if (entry_.end > data_bytes_) {
    refuse(fmt::format(
        "its data end at byte {} after the header, but only {} bytes follow it: the file is truncated "
        "(or the header is wrong); fetch it again",
        entry_.end, data_bytes_));
  }
  // Stops a header of millions of tensors over the same bytes before it is stored.
  claimed_bytes_ += entry_.end - entry_.begin;
  if (claimed_bytes_ > data_bytes_) {
    refuse(fmt::format("overlapping offsets: the tensors up to here claim {} bytes of {}", claimed_bytes_,
                       data_bytes_));
  }
  header_.entries.push_back(std::move(entry_));
}

// Sorted ranges must follow each other exactly, from the header's end to the file's.
void require_no_gap(const std::vector<SafetensorsEntry>& entries, std::int64_t data_bytes,
                    const std::string& where) {
  std::int64_t covered = 0;
  for (const SafetensorsEntry& entry : entries) {
    if (entry.begin == covered) {
      covered = entry.end;
      continue;
    }
    fail(ExitCode::bad_input,
         fmt::format("{}: tensor {}: data_offsets [{}, {}] {} the data before it, which end at {}", where,
                     entry.name, entry.begin, entry.end,
                     entry.begin < covered ? "overlap" : "leave a hole after", covered));
  }
  if (covered == data_bytes) return;
  fail(ExitCode::bad_input, fmt::format("{}: {} bytes at the end of the file are not covered by any tensor",
                                        where, data_bytes - covered));
}

}  // namespace

SafetensorsHeader parse_safetensors_header(std::string_view text, std::int64_t data_bytes,
                                           const std::string& where) {
  if (text.empty() || text.front() != '{') {
    fail(ExitCode::bad_input,
         fmt::format("{}: byte 8: the header does not start with {{: not a safetensors file", where));
  }
  // The JSON parser takes a NUL for the end of the text; anything might hide behind it.
  if (const auto nul = text.find('\0'); nul != std::string_view::npos) {
    fail(ExitCode::bad_input, fmt::format("{}: byte {}: NUL in the header", where, nul + 8));
  }
  HeaderReader reader(data_bytes, where);
  Json::sax_parse(text.begin(), text.end(), &reader);
  SafetensorsHeader header = reader.take();
  // Empty tensors may share an offset with their neighbour; they come before it.
  std::stable_sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  require_no_gap(header.entries, data_bytes, where);
  return header;
}

}  // namespace charter
