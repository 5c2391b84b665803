// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/message_text.hpp"
#include "src/base/utf8.hpp"
#include "src/storage/gguf_types.hpp"

namespace charter {

const GgufTensor* GgufFile::find_tensor(std::string_view name) const {
  const auto found = std::find_if(tensors_.begin(), tensors_.end(),
                                  [name](const GgufTensor& tensor) { return tensor.name == name; });
  return found == tensors_.end() ? nullptr : &*found;
}

std::span<const std::byte> GgufFile::data_of(const GgufTensor& tensor) const {
  return file_.bytes().subspan(static_cast<std::size_t>(tensor.offset),
                               static_cast<std::size_t>(tensor.bytes));
}

void GgufFile::refuse(const std::string& key, const std::string& what) const {
  fail(ExitCode::bad_input, fmt::format("{}: {}: {}", path().string(), shortened(key, 200), what));
}

std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> all;
  for (const auto& [key, value] : values_) all.push_back(key);
  std::sort(all.begin(), all.end());
  return all;
}

const GgufFile::Value* GgufFile::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

GgufValueType GgufFile::value_type(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) refuse(key, "is missing");
  return value->type;
}

std::int64_t GgufFile::element_count(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) refuse(key, "is missing");
  return value->count;
}

std::int64_t GgufFile::integer_at(const std::string& key, GgufValueType type, std::int64_t offset) const {
  const auto bytes = file_.bytes();
  switch (type) {
    case GgufValueType::u8:
      return load_number<std::uint8_t>(bytes, offset);
    case GgufValueType::i8:
      return load_number<std::int8_t>(bytes, offset);
    case GgufValueType::u16:
      return load_number<std::uint16_t>(bytes, offset);
    case GgufValueType::i16:
      return load_number<std::int16_t>(bytes, offset);
    case GgufValueType::u32:
      return load_number<std::uint32_t>(bytes, offset);
    case GgufValueType::i32:
      return load_number<std::int32_t>(bytes, offset);
    case GgufValueType::i64:
      return load_number<std::int64_t>(bytes, offset);
    case GgufValueType::u64: {
      const auto value = load_number<std::uint64_t>(bytes, offset);
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
        refuse(key, fmt::format("{} does not fit 63 bits", value));
      }
      return static_cast<std::int64_t>(value);
    }
    default:
      refuse(key, "is not an integer");
  }
}

std::string GgufFile::text_at(std::int64_t offset) const {
  const auto length = load_number<std::uint64_t>(file_.bytes(), offset);
  return {reinterpret_cast<const char*>(file_.bytes().data()) + offset + 8, static_cast<std::size_t>(length)};
}

std::optional<std::int64_t> GgufFile::find_integer(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  return integer_at(key, value->type, value->offset);
}

std::optional<double> GgufFile::find_real(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type == GgufValueType::f32) {
    return std::stod(fmt::format("{}", load_number<float>(file_.bytes(), value->offset)));
  }
  if (value->type == GgufValueType::f64) return load_number<double>(file_.bytes(), value->offset);
  refuse(key, "is not a real number");
}

std::optional<bool> GgufFile::find_boolean(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufValueType::boolean) refuse(key, "is not a boolean");
  return load_number<std::uint8_t>(file_.bytes(), value->offset) != 0;
}

std::optional<std::string> GgufFile::find_text(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufValueType::text) refuse(key, "is not text");
  std::string text = text_at(value->offset);
  if (const std::size_t valid = valid_utf8_prefix(text); valid != text.size()) {
    refuse(key, fmt::format("is not UTF-8 at its byte {}", valid));
  }
  return text;
}

std::optional<std::vector<std::string>> GgufFile::find_texts(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufValueType::array || value->element != GgufValueType::text) {
    refuse(key, "is not a list of texts");
  }
  std::vector<std::string> texts;
  texts.reserve(static_cast<std::size_t>(value->count));
  std::int64_t offset = value->offset;
  for (std::int64_t index = 0; index < value->count; ++index) {
    texts.push_back(text_at(offset));
    offset += 8 + static_cast<std::int64_t>(texts.back().size());
  }
  return texts;
}

std::optional<std::vector<std::int64_t>> GgufFile::find_integers(const std::string& key) const {
  const Value* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->type != GgufValueType::array) refuse(key, "is not a list of integers");
  std::vector<std::int64_t> integers;
  integers.reserve(static_cast<std::size_t>(value->count));
  for (std::int64_t index = 0; index < value->count; ++index) {
    integers.push_back(integer_at(key, value->element, value->offset + index * width_of(value->element)));
  }
  return integers;
}

std::int64_t GgufFile::integer(const std::string& key) const {
  const std::optional<std::int64_t> value = find_integer(key);
  if (!value) refuse(key, "is missing");
  return *value;
}

double GgufFile::real(const std::string& key) const {
  const std::optional<double> value = find_real(key);
  if (!value) refuse(key, "is missing");
  return *value;
}

std::string GgufFile::text(const std::string& key) const {
  const std::optional<std::string> value = find_text(key);
  if (!value) refuse(key, "is missing");
  return *value;
}

}  // namespace charter
