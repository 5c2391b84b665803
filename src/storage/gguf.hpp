// SPDX-License-Identifier: Apache-2.0
// Reads the container of a GGUF file, versions 2 and 3: metadata and tensor descriptions, every length and
// offset checked at opening. Knows nothing of models: see gguf_model.hpp. Format:
// github.com/ggml-org/ggml/blob/master/docs/gguf.md. The file is mapped; arrays are decoded when asked for.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/base/data_type.hpp"
#include "src/base/file.hpp"

namespace charter {

// Numbers as the file has them.
enum class GgufValueType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  text,
  array,
  u64,
  i64,
  f64
};

struct GgufTensor {
  std::string name;
  std::string type_name;            // as ggml calls it: "Q4_K"
  std::optional<DataType> type;     // empty for a type that cannot be read here
  std::vector<std::int64_t> shape;  // outermost dim first (the file has it the other way round)
  std::int64_t offset = 0;          // from the start of the file
  std::int64_t bytes = 0;
};

class GgufFile {
 public:
  // Throws missing_input, or bad_input naming file, byte, what was found and what is allowed.
  explicit GgufFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  std::uint32_t version() const { return version_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }  // in the order of the data
  const GgufTensor* find_tensor(std::string_view name) const;          // null when there is none
  std::span<const std::byte> data_of(const GgufTensor& tensor) const;

  std::vector<std::string> keys() const;  // in alphabetical order
  // Of a key that is there.
  GgufValueType value_type(const std::string& key) const;
  std::int64_t element_count(const std::string& key) const;  // 1 unless it is an array
  bool has(const std::string& key) const { return values_.contains(key); }
  // Metadata by key. The plain form throws bad_input when the key is absent; find_* gives nothing then. Both
  // throw bad_input when the value has another type (integer takes every width and sign that fits 63 bits;
  // text must be UTF-8; real takes f32 and f64, a float32 as the double that its shortest decimal text names:
  // 1e-05, not 9.999999747e-06).
  std::int64_t integer(const std::string& key) const;
  double real(const std::string& key) const;
  std::string text(const std::string& key) const;
  std::optional<std::int64_t> find_integer(const std::string& key) const;
  std::optional<double> find_real(const std::string& key) const;
  std::optional<bool> find_boolean(const std::string& key) const;
  std::optional<std::string> find_text(const std::string& key) const;
  std::optional<std::vector<std::string>> find_texts(const std::string& key) const;
  std::optional<std::vector<std::int64_t>> find_integers(const std::string& key) const;
  // Throws bad_input: "<file>: <key>: <what>".
  [[noreturn]] void refuse(const std::string& key, const std::string& what) const;

 private:
  struct Value {
    GgufValueType type = GgufValueType::u8;
    GgufValueType element = GgufValueType::u8;  // of an array
    std::int64_t count = 1;
    std::int64_t offset = 0;  // of the value, or of an array's first element
  };
  class Reader;
  friend class Reader;

  const Value* find(const std::string& key) const;
  std::int64_t integer_at(const std::string& key, GgufValueType type, std::int64_t offset) const;
  std::string text_at(std::int64_t offset) const;

  MappedFile file_;
  std::uint32_t version_ = 0;
  std::unordered_map<std::string, Value> values_;
  std::vector<GgufTensor> tensors_;
};

}  // namespace charter
