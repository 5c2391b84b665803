// SPDX-License-Identifier: Apache-2.0
// Writes small GGUF files for tests, right ones and, through its public fields, wrong ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/src/storage/storage_test_support.hpp"

namespace charter {

inline std::string gguf_text(const std::string& text) {
  return raw(static_cast<std::uint64_t>(text.size())) + text;
}

class GgufBuilder {
 public:
  std::uint32_t version = 3;
  std::optional<std::uint64_t> tensor_count;  // instead of the true ones
  std::optional<std::uint64_t> value_count;
  std::uint64_t alignment = 32;    // of the data; says nothing in the metadata
  std::uint64_t offset_shift = 0;  // added to every tensor's offset
  std::size_t cut = 0;             // bytes left away at the end

  GgufBuilder& value(const std::string& key, std::uint32_t type, const std::string& bytes) {
    values_.push_back(gguf_text(key) + raw(type) + bytes);
    return *this;
  }
  GgufBuilder& u32(const std::string& key, std::uint32_t number) { return value(key, 4, raw(number)); }
  GgufBuilder& f32(const std::string& key, float number) { return value(key, 6, raw(number)); }
  GgufBuilder& boolean(const std::string& key, bool flag) { return value(key, 7, raw<std::uint8_t>(flag)); }
  GgufBuilder& text(const std::string& key, const std::string& words) {
    return value(key, 8, gguf_text(words));
  }
  GgufBuilder& texts(const std::string& key, const std::vector<std::string>& list) {
    std::string bytes = raw<std::uint32_t>(8) + raw(static_cast<std::uint64_t>(list.size()));
    for (const std::string& item : list) bytes += gguf_text(item);
    return value(key, 9, bytes);
  }
  GgufBuilder& i32s(const std::string& key, const std::vector<std::int32_t>& list) {
    std::string bytes = raw<std::uint32_t>(5) + raw(static_cast<std::uint64_t>(list.size()));
    for (const std::int32_t item : list) bytes += raw(item);
    return value(key, 9, bytes);
  }
  // `extents` as GGUF has them: the innermost first.
  GgufBuilder& tensor(const std::string& name, const std::vector<std::uint64_t>& extents, std::uint32_t type,
                      const std::string& data) {
    tensors_.push_back({name, extents, type, data});
    return *this;
  }
  GgufBuilder& floats(const std::string& name, const std::vector<std::uint64_t>& extents,
                      const std::vector<float>& list) {
    return tensor(name, extents, 0, std::string(reinterpret_cast<const char*>(list.data()), 4 * list.size()));
  }

  std::string bytes() const {
    std::string file = "GGUF" + raw(version) + raw(tensor_count.value_or(tensors_.size())) +
                       raw(value_count.value_or(values_.size()));
    for (const std::string& record : values_) file += record;
    std::string data;
    for (const Tensor& item : tensors_) {
      file += gguf_text(item.name) + raw(static_cast<std::uint32_t>(item.extents.size()));
      for (const std::uint64_t extent : item.extents) file += raw(extent);
      file += raw(item.type) + raw(static_cast<std::uint64_t>(data.size()) + offset_shift);
      data += item.data;
      pad(data);
    }
    pad(file);
    file += data;
    return file.substr(0, file.size() - cut);
  }
  std::filesystem::path write(const std::filesystem::path& path) const {
    write_bytes(path, bytes());
    return path;
  }

 private:
  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> extents;
    std::uint32_t type;
    std::string data;
  };
  void pad(std::string& text) const {
    while (alignment > 0 && text.size() % alignment != 0) text += '\0';
  }
  std::vector<std::string> values_;
  std::vector<Tensor> tensors_;
};

}  // namespace charter
