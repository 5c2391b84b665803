// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/part_records.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "modules/checkpoint/checkpoint_names.hpp"

namespace charter {
namespace {

Json share_json(const StoredTensor& share) {
  Json blocks = Json::array();
  for (const StoredBlock& block : share.blocks) {
    blocks.push_back(Json::array({block.index, block.place.offset, block.place.extent, block.checksum}));
  }
  return Json::array({share.group, share.name, static_cast<int>(share.type), share.shape,
                      share.fingerprint.low, share.fingerprint.high, std::move(blocks)});
}

StoredTensor share_from_json(const Json& json, std::int32_t part) {
  StoredTensor share;
  json.at(0).get_to(share.group);
  json.at(1).get_to(share.name);
  share.type = static_cast<DataType>(json.at(2).get<int>());
  json.at(3).get_to(share.shape);
  json.at(4).get_to(share.fingerprint.low);
  json.at(5).get_to(share.fingerprint.high);
  for (const Json& block : json.at(6)) {
    StoredBlock& stored = share.blocks.emplace_back();
    stored.part = part;
    block.at(0).get_to(stored.index);
    block.at(1).get_to(stored.place.offset);
    block.at(2).get_to(stored.place.extent);
    block.at(3).get_to(stored.checksum);
  }
  return share;
}

std::string problem_of(const StoredTensor& tensor) {
  std::vector<Rectangle> places;
  for (const StoredBlock& block : tensor.blocks) places.push_back(block.place);
  return cover_problem(tensor.shape, places);
}

}  // namespace

std::string records_text(const std::vector<WrittenPart>& parts) {
  Json json = Json::array();
  for (const WrittenPart& part : parts) {
    Json shares = Json::array();
    for (const StoredTensor& share : part.tensors) shares.push_back(share_json(share));
    json.push_back(Json::array({part.part, part.bytes, std::move(shares)}));
  }
  return json.dump();
}

std::vector<WrittenPart> parse_records(std::string_view text) {
  std::vector<WrittenPart> parts;
  for (const Json& json : Json::parse(text)) {
    WrittenPart& part = parts.emplace_back();
    json.at(0).get_to(part.part);
    json.at(1).get_to(part.bytes);
    for (const Json& share : json.at(2)) part.tensors.push_back(share_from_json(share, part.part));
  }
  return parts;
}

void merge_records(std::vector<WrittenPart> parts, CheckpointManifest& manifest) {
  std::sort(parts.begin(), parts.end(),
            [](const WrittenPart& a, const WrittenPart& b) { return a.part < b.part; });
  std::map<std::pair<std::string, std::string>, StoredTensor> tensors;
  std::string problems;
  manifest.parts.clear();
  for (WrittenPart& part : parts) {
    require(part.part == std::ssize(manifest.parts), "each part of a checkpoint is written once");
    manifest.parts.push_back({part_file_name(part.part), part.bytes});
    for (StoredTensor& share : part.tensors) {
      StoredTensor& tensor = tensors[{share.group, share.name}];
      if (tensor.blocks.empty()) {
        tensor = std::move(share);
        continue;
      }
      if (tensor.shape != share.shape || tensor.type != share.type) {
        problems +=
            fmt::format("\n  {}/{}: given with shapes {} and {}, types {} and {}", share.group, share.name,
                        tensor.shape, share.shape, to_string(tensor.type), to_string(share.type));
        continue;
      }
      tensor.fingerprint += share.fingerprint;
      tensor.blocks.insert(tensor.blocks.end(), share.blocks.begin(), share.blocks.end());
    }
  }
  manifest.tensors.clear();
  for (auto& [key, tensor] : tensors) {
    std::sort(tensor.blocks.begin(), tensor.blocks.end(),
              [](const StoredBlock& a, const StoredBlock& b) { return a.place.offset < b.place.offset; });
    const std::string problem = problem_of(tensor);
    if (!problem.empty()) problems += fmt::format("\n  {}/{}: {}", key.first, key.second, problem);
    manifest.tensors.push_back(std::move(tensor));
  }
  if (!problems.empty()) {
    fail(ExitCode::internal, "the blocks given for the checkpoint do not make whole tensors:" + problems);
  }
}

}  // namespace charter
