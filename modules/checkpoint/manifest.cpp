// SPDX-License-Identifier: Apache-2.0
// Writing. Reading is in manifest_parse.cpp.
#include "modules/checkpoint/manifest.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/manifest_seal.hpp"

namespace charter {
namespace {

Json block_json(const StoredBlock& block) {
  return Json::array(
      {block.part, block.index, block.place.offset, block.place.extent, to_hex(block.checksum)});
}

Json tensor_json(const StoredTensor& tensor) {
  Json blocks = Json::array();
  for (const StoredBlock& block : tensor.blocks) blocks.push_back(block_json(block));
  return {{"group", tensor.group},
          {"name", tensor.name},
          {"type", to_string(tensor.type)},
          {"shape", tensor.shape},
          {"fingerprint", tensor.fingerprint.hex()},
          {"blocks", std::move(blocks)}};
}

// A JSON array with one element a line.
template <class Element, class ToJson>
void append_lines(std::string& text, const char* key, const std::vector<Element>& elements,
                  const ToJson& to_json) {
  text += fmt::format(",\n\"{}\": [", key);
  const char* separator = "\n";
  for (const Element& element : elements) {
    text += separator;
    text += to_json(element).dump();
    separator = ",\n";
  }
  text += "\n]";
}

}  // namespace

std::int64_t StoredTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::int64_t StoredTensor::bytes() const {
  return bytes_of(type, elements());
}

std::int64_t CheckpointManifest::tensor_bytes() const {
  std::int64_t bytes = 0;
  for (const StoredTensor& tensor : tensors) bytes += tensor.bytes();
  return bytes;
}

const StoredTensor* CheckpointManifest::find(std::string_view group, std::string_view name) const {
  const auto key = std::pair(group, name);
  const auto at =
      std::lower_bound(tensors.begin(), tensors.end(), key, [](const StoredTensor& tensor, const auto& k) {
        return std::pair<std::string_view, std::string_view>(tensor.group, tensor.name) < k;
      });
  return at != tensors.end() && at->group == group && at->name == name ? &*at : nullptr;
}

std::string manifest_text(const CheckpointManifest& manifest) {
  std::string text = "{\n\"format\": \"charter-checkpoint\"";
  const auto add = [&](const char* key, const Json& value) {
    text += fmt::format(",\n\"{}\": {}", key, value.dump());
  };
  add("schema", {CheckpointManifest::schema_major, CheckpointManifest::schema_minor});
  add("id", manifest.id);
  add("kind", manifest.kind);
  add("step", manifest.step);
  add("loss", manifest.loss ? Json(*manifest.loss) : Json());
  add("created", manifest.created);
  add("read_back", manifest.read_back);
  add("restarted_from", manifest.restarted_from ? Json(*manifest.restarted_from) : Json());
  add("written_by", manifest.written_by);
  add("training_state", manifest.training_state);
  append_lines(text, "files", manifest.files, [](const StoredFile& file) {
    return Json{{"name", file.name}, {"bytes", file.bytes}, {"xxh3_128", file.xxh3_128}};
  });
  append_lines(text, "parts", manifest.parts, [](const StoredPart& part) {
    return Json{{"name", part.name}, {"bytes", part.bytes}};
  });
  append_lines(text, "tensors", manifest.tensors, tensor_json);
  return sealed(std::move(text));
}

}  // namespace charter
