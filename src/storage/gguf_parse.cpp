// SPDX-License-Identifier: Apache-2.0
// The constructor of GgufFile: one walk over the file that checks every count, length, type and offset before
// it is used.
#include <algorithm>
#include <limits>
#include <unordered_set>

#include <fmt/format.h>

#include "src/base/checked_math.hpp"
#include "src/base/message_text.hpp"
#include "src/storage/gguf.hpp"
#include "src/storage/gguf_types.hpp"
#include "src/storage/safetensors.hpp"

namespace charter {
namespace {

constexpr std::int64_t most_key_bytes = 65535;
constexpr std::int64_t most_name_bytes = 63;  // ggml keeps 64 with the closing NUL
constexpr std::int64_t default_alignment = 32;
// The least bytes one record takes in the file; they bound counts before anything is allocated.
constexpr std::int64_t least_value_record = 8 + 1 + 4 + 1;
constexpr std::int64_t least_tensor_record = 8 + 1 + 4 + 4 + 8;

}  // namespace

// Walks the file once, front to back; never moves past the end.
class GgufFile::Reader {
 public:
  explicit Reader(GgufFile& file) : file_(file), bytes_(file.file_.bytes()) {}
  void read_all();

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ExitCode::bad_input,
         fmt::format("{}: byte {}: {}", file_.path().string(), record_, shortened(what, 400)));
  }
  std::int64_t remaining() const { return file_.file_.size() - position_; }
  void skip(std::int64_t count, std::string_view what) {
    if (count > remaining()) {
      refuse(fmt::format("{} needs {} bytes, {} are left: the file is truncated", what, count, remaining()));
    }
    position_ += count;
  }
  template <class Value>
  Value take(std::string_view what) {
    skip(sizeof(Value), what);
    return load_number<Value>(bytes_, position_ - std::int64_t{sizeof(Value)});
  }
  // A length or count that is bounded by what is left of the file when each item takes at least `item_bytes`.
  std::int64_t take_count(std::string_view what, std::int64_t item_bytes) {
    const auto count = take<std::uint64_t>(what);
    const std::int64_t most = remaining() / item_bytes;
    if (count > static_cast<std::uint64_t>(most)) {
      refuse(fmt::format("{} is {}, at most {} fit the {} bytes left", what, count, most, remaining()));
    }
    return static_cast<std::int64_t>(count);
  }
  std::string take_name(std::string_view what, std::int64_t most) {
    const std::int64_t length = take_count(fmt::format("length of {}", what), 1);
    if (length == 0 || length > most) {
      refuse(fmt::format("{} has {} bytes, 1 to {} are allowed", what, length, most));
    }
    std::string name(reinterpret_cast<const char*>(bytes_.data() + position_),
                     static_cast<std::size_t>(length));
    position_ += length;
    return name;
  }
  void read_version();
  void read_value();
  GgufValueType take_type(const std::string& key);
  void skip_elements(const std::string& key, GgufValueType type, std::int64_t count);
  void read_tensor();
  std::int64_t alignment() const;
  void place_tensors();

  GgufFile& file_;
  std::span<const std::byte> bytes_;
  std::int64_t position_ = 0;
  std::int64_t record_ = 0;  // where the record being read begins, for messages
  std::unordered_set<std::string> names_;
};

void GgufFile::Reader::read_all() {
  read_version();
  record_ = position_;
  const std::int64_t tensors = take_count("tensor count", least_tensor_record);
  record_ = position_;
  const std::int64_t values = take_count("metadata count", least_value_record);
  for (std::int64_t index = 0; index < values; ++index) read_value();
  for (std::int64_t index = 0; index < tensors; ++index) read_tensor();
  place_tensors();
}

void GgufFile::Reader::read_version() {
  const std::string_view start(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
  refuse_lfs_pointer(start, file_.path().string());
  if (!start.starts_with("GGUF")) refuse("does not start with \"GGUF\": not a GGUF file");
  position_ = record_ = 4;
  file_.version_ = take<std::uint32_t>("version");
  if (file_.version_ == 2 || file_.version_ == 3) return;
  if (file_.version_ != 0 && (file_.version_ & 0xffffU) == 0) {
    refuse(fmt::format("version {:#010x}: the file has the wrong endianness (big-endian)", file_.version_));
  }
  refuse(fmt::format("version {}; 2 and 3 are read. Convert the model again with a current converter",
                     file_.version_));
}

GgufValueType GgufFile::Reader::take_type(const std::string& key) {
  const auto type = take<std::uint32_t>("value type");
  if (type > static_cast<std::uint32_t>(GgufValueType::f64)) {
    refuse(fmt::format("{}: value type {}, 0 to 12 are known", key, type));
  }
  return static_cast<GgufValueType>(type);
}

void GgufFile::Reader::skip_elements(const std::string& key, GgufValueType type, std::int64_t count) {
  if (type == GgufValueType::text) {
    for (std::int64_t index = 0; index < count; ++index) skip(take_count("length of " + key, 1), key);
    return;
  }
  const std::int64_t begin = position_;
  skip(checked_mul(count, width_of(type), key), key);
  if (type != GgufValueType::boolean) return;
  for (std::int64_t at = begin; at < position_; ++at) {
    const auto value = load_number<std::uint8_t>(bytes_, at);
    if (value > 1) refuse(fmt::format("{}: boolean value {}, expected 0 or 1", key, value));
  }
}

void GgufFile::Reader::read_value() {
  record_ = position_;
  const std::string key = take_name("metadata key", most_key_bytes);
  Value value;
  value.type = take_type(key);
  if (value.type == GgufValueType::array) {
    value.element = take_type(key);
    if (value.element == GgufValueType::array) refuse(key + ": an array of arrays is not supported");
    value.count = take_count(
        "length of array " + key,
        std::max<std::int64_t>(width_of(value.element), value.element == GgufValueType::text ? 8 : 1));
  } else {
    value.element = value.type;
  }
  value.offset = position_;
  skip_elements(key, value.element, value.count);
  if (!file_.values_.emplace(key, value).second) refuse(fmt::format("duplicate metadata key {}", key));
}

void GgufFile::Reader::read_tensor() {
  record_ = position_;
  GgufTensor tensor;
  tensor.name = take_name("tensor name", most_name_bytes);
  if (!names_.insert(tensor.name).second) refuse(fmt::format("duplicate tensor name {}", tensor.name));
  const auto dims = take<std::uint32_t>("number of dims");
  if (dims > 4) refuse(fmt::format("tensor {}: {} dims, at most 4 are allowed", tensor.name, dims));
  for (std::uint32_t dim = 0; dim < dims; ++dim) {
    const auto extent = take<std::uint64_t>("extent");
    if (extent == 0 || extent > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      refuse(fmt::format("tensor {}: extent {} of dim {}, expected 1 to 2^63-1", tensor.name, extent, dim));
    }
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
  }
  const auto type_id = take<std::uint32_t>("tensor type");
  const GgmlType* type = find_ggml_type(type_id);
  if (type == nullptr) {
    refuse(fmt::format("tensor {}: type {} is unknown or was removed", tensor.name, type_id));
  }
  tensor.type_name = type->name;
  tensor.type = type->readable;
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (row % type->block_elements != 0) {
    refuse(fmt::format("tensor {}: rows of {} are not whole blocks of {} ({})", tensor.name, row,
                       type->block_elements, type->name));
  }
  const std::string what = fmt::format("{}: byte {}: tensor {}", file_.path().string(), record_, tensor.name);
  const std::int64_t blocks = checked_product(tensor.shape, what) / type->block_elements;
  tensor.bytes = checked_mul(blocks, type->block_bytes, what);
  const auto offset = take<std::uint64_t>("tensor offset");
  if (offset > static_cast<std::uint64_t>(file_.file_.size())) {
    refuse(fmt::format("tensor {}: offset {} lies beyond the file's {} bytes", tensor.name, offset,
                       file_.file_.size()));
  }
  tensor.offset = static_cast<std::int64_t>(offset);
  file_.tensors_.push_back(std::move(tensor));
}

std::int64_t GgufFile::Reader::alignment() const {
  const std::string key = "general.alignment";
  const Value* value = file_.find(key);
  if (value == nullptr) return default_alignment;
  if (value->type != GgufValueType::u32) file_.refuse(key, "must be an unsigned 32-bit number");
  const std::int64_t alignment = file_.integer(key);
  if (alignment < 1 || (alignment & (alignment - 1)) != 0) {
    file_.refuse(key, fmt::format("{} is not a power of two", alignment));
  }
  return alignment;
}

// The tensors must follow each other in the order of their descriptions, each padded to the alignment.
void GgufFile::Reader::place_tensors() {
  if (file_.tensors_.empty()) return;
  const std::int64_t step = alignment();
  const auto padded = [&](std::int64_t bytes) {
    return checked_add(bytes, step - 1, "padding to the alignment") / step * step;
  };
  const std::int64_t start = padded(position_);
  record_ = start;
  std::int64_t expected = 0;
  for (GgufTensor& tensor : file_.tensors_) {
    const std::string what = fmt::format("{}: tensor {}", file_.path().string(), tensor.name);
    if (tensor.offset != expected) {
      refuse(fmt::format(
          "tensor {}: offset {}, but the data before it end at {} (alignment {}): tensors overlap, leave "
          "holes or are out of order",
          tensor.name, tensor.offset, expected, step));
    }
    const std::int64_t end = checked_add(start, checked_add(expected, tensor.bytes, what), what);
    if (end > file_.file_.size()) {
      refuse(
          fmt::format("tensor {}: its data end at byte {}, the file at {}: it is truncated; fetch it again",
                      tensor.name, end, file_.file_.size()));
    }
    tensor.offset = start + expected;
    expected = padded(expected + tensor.bytes);
  }
}

GgufFile::GgufFile(const std::filesystem::path& path) : file_(path) {
  Reader(*this).read_all();
}

}  // namespace charter
