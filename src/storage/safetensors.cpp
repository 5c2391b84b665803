// SPDX-License-Identifier: Apache-2.0
#include "src/storage/safetensors.hpp"

#include <cstring>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/storage/safetensors_header.hpp"
#include "src/storage/tensor_decode.hpp"

namespace charter {
namespace {

constexpr std::int64_t length_bytes = 8;
constexpr std::int64_t most_index_bytes = std::int64_t{256} << 20;
constexpr std::size_t most_listed = 10;

struct OpenFile {
  explicit OpenFile(const std::filesystem::path& path) : file(path) {
    const std::string where = path.string();
    const std::string_view all(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
    refuse_lfs_pointer(all, where);
    if (file.size() < length_bytes) {
      fail(ExitCode::bad_input,
           fmt::format("{}: {} bytes are too short for the header length (8 bytes)", where, file.size()));
    }
    std::uint64_t length = 0;
    std::memcpy(&length, all.data(), sizeof length);
    if (length == 0) fail(ExitCode::bad_input, fmt::format("{}: byte 0: empty header", where));
    if (length > static_cast<std::uint64_t>(most_safetensors_header_bytes)) {
      fail(ExitCode::bad_input, fmt::format("{}: byte 0: header too large: {} bytes, at most {} are allowed",
                                            where, length, most_safetensors_header_bytes));
    }
    if (static_cast<std::int64_t>(length) > file.size() - length_bytes) {
      fail(ExitCode::bad_input, fmt::format("{}: byte 0: header length {} exceeds the {} bytes that follow",
                                            where, length, file.size() - length_bytes));
    }
    data_offset = length_bytes + static_cast<std::int64_t>(length);
    header = parse_safetensors_header(all.substr(length_bytes, length), file.size() - data_offset, where);
  }

  std::span<const std::byte> data_of(const SafetensorsEntry& entry) const {
    return file.bytes().subspan(static_cast<std::size_t>(data_offset + entry.begin),
                                static_cast<std::size_t>(entry.end - entry.begin));
  }

  MappedFile file;
  std::int64_t data_offset = 0;
  SafetensorsHeader header;
};

class SafetensorsSource : public TensorSource {
 public:
  SafetensorsSource(std::string origin, std::vector<std::unique_ptr<OpenFile>> files)
      : origin_(std::move(origin)), files_(std::move(files)) {
    for (const auto& file : files_) {
      for (const SafetensorsEntry& entry : file->header.entries) {
        infos_.push_back(
            {entry.name, entry.type.value_or(DataType::u8), entry.shape, entry.type.has_value()});
        places_.emplace(entry.name, Place{file.get(), &entry});
      }
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }

  void read(const std::string& name, std::int64_t first, std::span<float> out) const override {
    const auto found = places_.find(name);
    if (found == places_.end()) {
      fail(ExitCode::missing_input, fmt::format("{}: has no tensor {}", origin_, name));
    }
    const auto& [file, entry] = found->second;
    if (!entry->type) {
      fail(ExitCode::bad_input,
           fmt::format("{}: tensor {} has element type {}; F32, F16 and BF16 can be read",
                       file->file.path().string(), name, entry->type_name));
    }
    decode_elements(*entry->type, file->data_of(*entry), first, out);
  }

 private:
  struct Place {
    const OpenFile* file;
    const SafetensorsEntry* entry;
  };
  std::string origin_;
  std::vector<std::unique_ptr<OpenFile>> files_;
  std::vector<TensorInfo> infos_;
  std::unordered_map<std::string, Place> places_;
};

// weight_map comes from outside: it may name files of this folder (or below), nothing else.
void require_inside_folder(const std::string& shard, const std::string& where) {
  const std::filesystem::path path(shard);
  bool leaves = shard.empty() || shard.find('\0') != std::string::npos || path.is_absolute();
  for (const auto& part : path) leaves = leaves || part == "..";
  if (!leaves) return;
  fail(ExitCode::bad_input,
       fmt::format("{}: weight_map names \"{}\": the path leaves the model's folder", where, shard));
}

// tensor -> shard, and the shards in the order of their names.
struct ShardIndex {
  std::map<std::string, std::string> shard_of;
  std::map<std::string, std::int64_t> tensors_in;
};

ShardIndex read_index(const std::filesystem::path& index_file) {
  const std::string where = index_file.string();
  const std::string text = read_file(index_file, most_index_bytes);
  refuse_lfs_pointer(text, where);
  const Json json = parse_json(text, where);
  if (!json.is_object() || !json.contains("weight_map") || !json["weight_map"].is_object()) {
    fail(ExitCode::bad_input, fmt::format("{}: expected an object with an object \"weight_map\"", where));
  }
  ShardIndex index;
  for (const auto& [name, shard] : json["weight_map"].items()) {
    if (!shard.is_string()) {
      fail(ExitCode::bad_input, fmt::format("{}: weight_map of {} is not a file name", where, name));
    }
    const std::string file = shard.get<std::string>();
    require_inside_folder(file, where);
    index.shard_of.emplace(name, file);
    ++index.tensors_in[file];
  }
  if (index.shard_of.empty()) fail(ExitCode::bad_input, fmt::format("{}: weight_map is empty", where));
  return index;
}

// Collects what is wrong, so that one run tells the user everything.
class Problems {
 public:
  void add(std::string problem) {
    if (++count_ <= most_listed) listed_.push_back(std::move(problem));
  }
  void raise_if_any(const std::string& where) const {
    if (count_ == 0) return;
    const std::string more = count_ > most_listed ? fmt::format("; and {} more", count_ - most_listed) : "";
    fail(ExitCode::bad_input, fmt::format("{}: {}{}", where, fmt::join(listed_, "; "), more));
  }

 private:
  std::vector<std::string> listed_;
  std::size_t count_ = 0;
};

// Index and shards must tell the same story.
void require_agreement(const ShardIndex& index, const std::vector<std::unique_ptr<OpenFile>>& files,
                       const std::string& where, const std::filesystem::path& folder) {
  Problems problems;
  std::unordered_map<std::string, std::string> found_in;
  for (const auto& file : files) {
    const std::string shard = file->file.path().lexically_relative(folder).string();
    for (const SafetensorsEntry& entry : file->header.entries) {
      const auto [other, is_new] = found_in.emplace(entry.name, shard);
      const auto listed = index.shard_of.find(entry.name);
      if (!is_new) {
        problems.add(fmt::format("tensor {} is in two shards, {} and {}", entry.name, other->second, shard));
      } else if (listed == index.shard_of.end()) {
        problems.add(fmt::format("tensor {} is in {} but not in weight_map", entry.name, shard));
      }
    }
  }
  for (const auto& [name, shard] : index.shard_of) {
    const auto found = found_in.find(name);
    if (found == found_in.end()) {
      problems.add(fmt::format("tensor {} is missing from {}", name, shard));
    } else if (found->second != std::filesystem::path(shard).lexically_normal().string()) {
      problems.add(fmt::format("tensor {} is in {}, weight_map says {}", name, found->second, shard));
    }
  }
  problems.raise_if_any(where);
}

}  // namespace

void refuse_lfs_pointer(std::string_view text, const std::string& where) {
  if (!text.starts_with("version https://git-lfs.github.com/spec/")) return;
  fail(ExitCode::bad_input,
       fmt::format("{}: this is a Git LFS pointer, not the file itself; run `git lfs pull` in the "
                   "folder it was cloned to",
                   where));
}

std::shared_ptr<TensorSource> open_safetensors(const std::filesystem::path& file) {
  std::vector<std::unique_ptr<OpenFile>> files;
  files.push_back(std::make_unique<OpenFile>(file));
  return std::make_shared<SafetensorsSource>(file.string(), std::move(files));
}

std::shared_ptr<TensorSource> open_sharded_safetensors(const std::filesystem::path& index_file) {
  const std::string where = index_file.string();
  const ShardIndex index = read_index(index_file);
  const std::filesystem::path folder = index_file.has_parent_path() ? index_file.parent_path() : ".";
  Problems missing;
  for (const auto& [shard, count] : index.tensors_in) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(folder / shard, error)) {
      missing.add(fmt::format("shard {} ({} tensors) is missing{}", shard, count,
                              error ? " (" + error.message() + ")" : std::string()));
    }
  }
  missing.raise_if_any(where);
  std::vector<std::unique_ptr<OpenFile>> files;
  for (const auto& [shard, count] : index.tensors_in) {
    files.push_back(std::make_unique<OpenFile>((folder / shard).lexically_normal()));
  }
  require_agreement(index, files, where, folder.lexically_normal());
  return std::make_shared<SafetensorsSource>(where, std::move(files));
}

std::vector<std::pair<std::string, std::string>> read_safetensors_metadata(
    const std::filesystem::path& file) {
  return OpenFile(file).header.metadata;
}

}  // namespace charter
