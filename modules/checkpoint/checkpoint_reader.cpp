// SPDX-License-Identifier: Apache-2.0
// What one rank does alone. Reading together is in replicated_read.cpp.
#include "modules/checkpoint/checkpoint_reader.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "modules/checkpoint/block_reader.hpp"
#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

constexpr std::int64_t manifest_limit_bytes = std::int64_t{1} << 30;
constexpr std::size_t most_listed_problems = 50;

// What is wrong with a file's size; empty when nothing is. Throws missing_input where it may not be looked
// at.
std::string size_problem(const std::filesystem::path& path, std::int64_t expected) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error == std::errc::permission_denied) {
    fail(ExitCode::missing_input, fmt::format("{}: {}", path.string(), error.message()));
  }
  if (error) return fmt::format("{}: {}", path.string(), error.message());
  if (size == static_cast<std::uintmax_t>(expected)) return "";
  return fmt::format("{}: has {} bytes, the manifest says {}: cut short or changed", path.string(), size,
                     expected);
}

// A link that leads nowhere may lead to a file system that is not mounted: its checkpoint is not damaged.
void require_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::is_directory(folder, error)) return;
  if (!error) throw DamagedCheckpoint(folder.string() + ": is not a folder");
  std::error_code ignored;
  const bool is_link = std::filesystem::is_symlink(folder, ignored);
  fail(
      ExitCode::missing_input,
      fmt::format("{}: {} ({})", folder.string(),
                  is_link ? "a link that cannot be followed: make its target visible here, or remove the link"
                          : "no such checkpoint folder",
                  error.message()));
}

}  // namespace

CheckpointReader::CheckpointReader(const std::filesystem::path& folder, CheckpointManifest manifest)
    : folder_(folder),
      manifest_(std::make_shared<const CheckpointManifest>(std::move(manifest))),
      blocks_(std::make_unique<BlockReader>(folder, manifest_)) {}

CheckpointReader::~CheckpointReader() = default;
CheckpointReader::CheckpointReader(CheckpointReader&&) noexcept = default;
CheckpointReader& CheckpointReader::operator=(CheckpointReader&&) noexcept = default;

const std::filesystem::path& CheckpointReader::folder() const {
  return folder_;
}

const CheckpointManifest& CheckpointReader::manifest() const {
  return *manifest_;
}

const std::string& CheckpointReader::damage() const {
  return blocks_->damage();
}

bool CheckpointReader::has_file(const std::string& name) const {
  return std::any_of(manifest_->files.begin(), manifest_->files.end(),
                     [&](const StoredFile& file) { return file.name == name; });
}

std::string CheckpointReader::file(const std::string& name) const {
  const auto at = std::find_if(manifest_->files.begin(), manifest_->files.end(),
                               [&](const StoredFile& file) { return file.name == name; });
  if (at == manifest_->files.end()) {
    fail(ExitCode::missing_input, fmt::format("{}: holds no file {}", folder_.string(), name));
  }
  const std::filesystem::path path = folder_ / files_folder / name;
  std::string text = read_file(path, at->bytes);
  if (text_checksum(text) != at->xxh3_128) {
    const std::string what = fmt::format("{}: is not what the manifest says: changed on disk", path.string());
    blocks_->note_damage(what);
    throw DamagedCheckpoint(what);
  }
  return text;
}

void CheckpointReader::require_exactly(std::span<const ExpectedTensor> expected) const {
  std::vector<std::string> problems;
  std::set<std::string> groups;
  std::set<std::pair<std::string, std::string>> names;
  for (const ExpectedTensor& tensor : expected) {
    groups.insert(tensor.group);
    names.emplace(tensor.group, tensor.name);
    const StoredTensor* stored = manifest_->find(tensor.group, tensor.name);
    // A tensor without elements is not stored.
    const bool empty = std::find(tensor.shape.begin(), tensor.shape.end(), 0) != tensor.shape.end();
    if (stored == nullptr && !empty) {
      problems.push_back(
          fmt::format("{}/{} is missing (expected shape {})", tensor.group, tensor.name, tensor.shape));
    } else if (stored != nullptr && stored->shape != tensor.shape) {
      problems.push_back(fmt::format("{}/{} has shape {}, expected {}", tensor.group, tensor.name,
                                     stored->shape, tensor.shape));
    } else if (stored != nullptr && tensor.type && stored->type != *tensor.type) {
      problems.push_back(fmt::format("{}/{} is {}, expected {}", tensor.group, tensor.name,
                                     to_string(stored->type), to_string(*tensor.type)));
    }
  }
  for (const StoredTensor& stored : manifest_->tensors) {
    if (groups.contains(stored.group) && !names.contains({stored.group, stored.name})) {
      problems.push_back(
          fmt::format("{}/{} is not expected (shape {})", stored.group, stored.name, stored.shape));
    }
  }
  if (problems.empty()) return;
  const std::size_t listed = std::min(problems.size(), most_listed_problems);
  std::string more;
  if (problems.size() > listed) more = fmt::format("\n  and {} more", problems.size() - listed);
  problems.resize(listed);
  fail(ExitCode::bad_input, fmt::format("{}: does not fit this model:\n  {}{}", folder_.string(),
                                        fmt::join(problems, "\n  "), more));
}

void CheckpointReader::check_sizes() const {
  std::vector<std::string> problems;
  const auto check = [&](const std::filesystem::path& path, std::int64_t expected) {
    std::string problem = size_problem(path, expected);
    if (!problem.empty()) problems.push_back(std::move(problem));
  };
  for (const StoredPart& part : manifest_->parts) check(folder_ / part.name, part.bytes);
  for (const StoredFile& file : manifest_->files) check(folder_ / files_folder / file.name, file.bytes);
  if (!problems.empty()) throw DamagedCheckpoint(fmt::format("{}", fmt::join(problems, "\n  ")));
}

void CheckpointReader::read_block(const std::string& group, const std::string& name,
                                  std::span<const std::int64_t> offset, std::span<const std::int64_t> extent,
                                  std::span<std::byte> out) const {
  const StoredTensor& stored = tensor(group, name);
  const Rectangle wanted{{offset.begin(), offset.end()}, {extent.begin(), extent.end()}};
  require(offset.size() == stored.shape.size() && extent.size() == stored.shape.size(),
          "a block has the rank of its tensor");
  const std::int64_t element_bytes = bytes_of(stored.type, 1);
  require(std::ssize(out) == wanted.volume() * element_bytes, "the buffer holds the block");
  std::int64_t copied = 0;
  for (const StoredBlock& block : stored.blocks) {
    if (intersection(block.place, wanted).volume() == 0) continue;
    copied += copy_common(block.place, blocks_->read(stored, block), wanted, out, element_bytes);
  }
  require(copied == wanted.volume(), "a block lies inside its tensor");
}

void CheckpointReader::read_range(const std::string& group, const std::string& name, std::int64_t first,
                                  std::span<std::byte> out) const {
  const StoredTensor& stored = tensor(group, name);
  const std::int64_t element_bytes = bytes_of(stored.type, 1);
  std::size_t done = 0;
  for (const Rectangle& rectangle :
       rectangles_of_range(stored.shape, first, std::ssize(out) / element_bytes)) {
    const auto bytes = static_cast<std::size_t>(rectangle.volume() * element_bytes);
    read_block(group, name, rectangle.offset, rectangle.extent, out.subspan(done, bytes));
    done += bytes;
  }
}

void CheckpointReader::drop_caches() const {
  blocks_->drop_caches();
}

void CheckpointReader::verify_blocks(int share, int shares) const {
  require(share >= 0 && share < shares, "a share is one of the shares");
  drop_caches();
  const std::int64_t total = manifest_->tensor_bytes();
  // Consecutive stretches of all bytes, in the order of the parts, so that each rank reads few files from
  // front to back.
  std::vector<std::pair<const StoredTensor*, const StoredBlock*>> all;
  for (const StoredTensor& stored : manifest_->tensors) {
    for (const StoredBlock& block : stored.blocks) all.emplace_back(&stored, &block);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.second->part < b.second->part; });
  const double bytes_a_share = static_cast<double>(std::max<std::int64_t>(total, 1)) / shares;
  std::int64_t before = 0;
  for (const auto& [stored, block] : all) {
    const auto owner = static_cast<int>(static_cast<double>(before) / bytes_a_share);
    before += bytes_of(stored->type, block->place.volume());
    if (std::min(owner, shares - 1) == share) blocks_->read(*stored, *block);
  }
}

const StoredTensor& CheckpointReader::tensor(const std::string& group, const std::string& name) const {
  const StoredTensor* stored = manifest_->find(group, name);
  if (stored == nullptr)
    fail(ExitCode::missing_input, fmt::format("{}: holds no tensor {}/{}", folder_.string(), group, name));
  return *stored;
}

CheckpointReader read_checkpoint_folder(const std::filesystem::path& folder) {
  require_folder(folder);
  const std::filesystem::path path = folder / manifest_file;
  if (!path_exists(path))
    throw DamagedCheckpoint(path.string() + ": missing: the checkpoint was never committed");
  CheckpointReader reader(folder, parse_manifest(read_file(path, manifest_limit_bytes), path.string()));
  reader.check_sizes();
  return reader;
}

}  // namespace charter
