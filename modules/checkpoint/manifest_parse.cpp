// SPDX-License-Identifier: Apache-2.0
// Reading a manifest. The seal has found accidents; what is checked here keeps a manifest made by another
// program, or by a fault of ours, from leading outside the folder or past the end of a buffer.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/manifest.hpp"
#include "modules/checkpoint/manifest_seal.hpp"
#include "src/base/checked_math.hpp"

namespace charter {
namespace {

constexpr std::size_t most_dims = 8;
constexpr std::int64_t largest_block_bytes = std::int64_t{64} << 20;

// Names the manifest in every message.
class Checker {
 public:
  explicit Checker(std::string where) : where_(std::move(where)) {}

  [[noreturn]] void damaged(const std::string& what) const { throw DamagedCheckpoint(where_ + ": " + what); }
  void expect(bool condition, const std::string& what) const {
    if (!condition) damaged(what);
  }

  const Json& at(const Json& object, const char* key) const {
    expect(object.is_object() && object.contains(key), fmt::format("\"{}\" is missing", key));
    return object[key];
  }
  std::string text(const Json& object, const char* key) const {
    const Json& value = at(object, key);
    expect(value.is_string(), fmt::format("\"{}\" is not text", key));
    return value.get<std::string>();
  }
  std::int64_t count(const Json& value, const char* what,
                     std::int64_t most = std::numeric_limits<std::int64_t>::max()) const {
    expect(
        value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX),
        fmt::format("\"{}\" is not an integer of 64 bits", what));
    const auto number = value.get<std::int64_t>();
    expect(number >= 0 && number <= most, fmt::format("\"{}\" is {}, allowed 0 to {}", what, number, most));
    return number;
  }
  std::vector<std::int64_t> counts(const Json& value, const char* what) const {
    expect(value.is_array() && value.size() <= most_dims,
           fmt::format("\"{}\" is not a list of at most {} numbers", what, most_dims));
    std::vector<std::int64_t> list;
    for (const Json& element : value) list.push_back(count(element, what));
    return list;
  }
  const Json& list(const Json& object, const char* key) const {
    const Json& value = at(object, key);
    expect(value.is_array(), fmt::format("\"{}\" is not a list", key));
    return value;
  }

 private:
  std::string where_;
};

bool is_hash128(std::string_view hex) {
  return hex.size() == 32 && from_hex(hex.substr(0, 16)) && from_hex(hex.substr(16));
}

void check_schema(const Checker& check, const Json& json, const std::string& where) {
  check.expect(check.text(json, "format") == "charter-checkpoint", "\"format\" is not charter-checkpoint");
  const std::vector<std::int64_t> schema = check.counts(check.at(json, "schema"), "schema");
  check.expect(schema.size() == 2, "\"schema\" is not [major, minor]");
  if (schema[0] > CheckpointManifest::schema_major) {
    fail(ExitCode::configuration,
         fmt::format("{}: written in schema {}, this build reads up to {}: use a newer build", where,
                     schema[0], CheckpointManifest::schema_major));
  }
  check.expect(schema[0] == CheckpointManifest::schema_major,
               fmt::format("schema {} was never used", schema[0]));
}

StoredBlock parse_block(const Checker& check, const Json& json, const StoredTensor& tensor,
                        std::size_t parts) {
  check.expect(json.is_array() && json.size() == 5,
               fmt::format("a block of {} is not [part, index, offset, extent, checksum]", tensor.name));
  StoredBlock block;
  constexpr std::int64_t int32_max = std::numeric_limits<std::int32_t>::max();
  block.part = static_cast<std::int32_t>(check.count(json[0], "part of a block", int32_max));
  block.index = static_cast<std::int32_t>(check.count(json[1], "index of a block", int32_max));
  check.expect(static_cast<std::size_t>(block.part) < parts,
               fmt::format("a block of {} lies in part {}, there are {}", tensor.name, block.part, parts));
  block.place.offset = check.counts(json[2], "offset");
  block.place.extent = check.counts(json[3], "extent");
  const auto checksum = json[4].is_string() ? from_hex(json[4].get<std::string>()) : std::nullopt;
  check.expect(checksum.has_value(), fmt::format("a block of {} has no 16-digit checksum", tensor.name));
  block.checksum = *checksum;
  return block;
}

StoredTensor parse_tensor(const Checker& check, const Json& json, std::size_t parts) {
  StoredTensor tensor;
  tensor.group = check.text(json, "group");
  tensor.name = check.text(json, "name");
  check.expect(is_group_name(tensor.group) && is_tensor_name(tensor.name),
               "a tensor's group or name is not allowed");
  const std::string type = check.text(json, "type");
  tensor.type = type == to_string(DataType::f64) ? DataType::f64 : DataType::f32;
  check.expect(type == to_string(tensor.type),
               fmt::format("{} has type {}, allowed F32 and F64", tensor.name, type));
  tensor.shape = check.counts(check.at(json, "shape"), "shape");
  try {
    checked_mul(checked_product(tensor.shape, tensor.name), bytes_of(tensor.type, 1), tensor.name);
  } catch (const Error& error) {
    check.damaged(error.what());
  }
  const std::string hex = check.text(json, "fingerprint");
  check.expect(is_hash128(hex), fmt::format("{} has no fingerprint of 32 digits", tensor.name));
  tensor.fingerprint = {*from_hex(std::string_view(hex).substr(16)),
                        *from_hex(std::string_view(hex).substr(0, 16))};
  std::vector<Rectangle> places;
  for (const Json& block : check.list(json, "blocks")) {
    tensor.blocks.push_back(parse_block(check, block, tensor, parts));
    places.push_back(tensor.blocks.back().place);
  }
  const std::string problem = cover_problem(tensor.shape, places);
  check.expect(problem.empty(), fmt::format("{}: {}", tensor.name, problem));
  for (const Rectangle& place : places) {
    check.expect(bytes_of(tensor.type, place.volume()) <= largest_block_bytes,
                 fmt::format("{} has a block of more than {} bytes", tensor.name, largest_block_bytes));
  }
  return tensor;
}

void parse_tensors(const Checker& check, const Json& json, CheckpointManifest& manifest) {
  for (const Json& element : check.list(json, "tensors")) {
    StoredTensor tensor = parse_tensor(check, element, manifest.parts.size());
    if (!manifest.tensors.empty()) {
      const StoredTensor& before = manifest.tensors.back();
      check.expect(std::tie(before.group, before.name) < std::tie(tensor.group, tensor.name),
                   fmt::format("{}/{} is out of order or stands twice", tensor.group, tensor.name));
    }
    manifest.tensors.push_back(std::move(tensor));
  }
}

void parse_lists_of_files(const Checker& check, const Json& json, CheckpointManifest& manifest) {
  for (const Json& element : check.list(json, "files")) {
    StoredFile file{check.text(element, "name"), check.count(check.at(element, "bytes"), "bytes"),
                    check.text(element, "xxh3_128")};
    check.expect(is_plain_file_name(file.name), fmt::format("file name \"{}\" is not allowed", file.name));
    check.expect(is_hash128(file.xxh3_128), fmt::format("file {} has no checksum of 32 digits", file.name));
    manifest.files.push_back(std::move(file));
  }
  for (const Json& element : check.list(json, "parts")) {
    StoredPart part{check.text(element, "name"), check.count(check.at(element, "bytes"), "bytes")};
    check.expect(part.name == part_file_name(std::ssize(manifest.parts)),
                 fmt::format("part {} is called \"{}\"", manifest.parts.size(), part.name));
    manifest.parts.push_back(std::move(part));
  }
}

}  // namespace

CheckpointManifest parse_manifest(std::string_view text, const std::string& where) {
  const Checker check(where);
  const std::string problem = seal_problem(text);
  check.expect(problem.empty(), problem);
  Json json;
  try {
    json = parse_json(text, where);
  } catch (const Error& error) {
    throw DamagedCheckpoint(error.what());
  }
  check_schema(check, json, where);
  CheckpointManifest manifest;
  manifest.id = check.text(json, "id");
  check.expect(is_hash128(manifest.id), "\"id\" is not 32 hexadecimal digits");
  manifest.kind = check.text(json, "kind");
  check.expect(manifest.kind == "training" || manifest.kind == "weights",
               fmt::format("\"kind\" is {}, allowed training and weights", manifest.kind));
  manifest.step = check.count(check.at(json, "step"), "step");
  const Json& loss = check.at(json, "loss");
  check.expect(loss.is_null() || loss.is_number(), "\"loss\" is not a number");
  if (loss.is_number()) manifest.loss = loss.get<double>();
  manifest.created = check.text(json, "created");
  const Json& read_back = check.at(json, "read_back");
  check.expect(read_back.is_boolean(), "\"read_back\" is not true or false");
  manifest.read_back = read_back.get<bool>();
  const Json& from = check.at(json, "restarted_from");
  if (!from.is_null()) manifest.restarted_from = check.count(from, "restarted_from");
  manifest.written_by = check.at(json, "written_by");
  manifest.training_state = check.at(json, "training_state");
  parse_lists_of_files(check, json, manifest);
  parse_tensors(check, json, manifest);
  return manifest;
}

}  // namespace charter
