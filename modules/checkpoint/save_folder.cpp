// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/save_folder.hpp"

#include <cerrno>
#include <cmath>
#include <cstring>

#include <fmt/format.h>
#include <sys/statvfs.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checkpoint_reader.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/part_exchange.hpp"
#include "modules/checkpoint/part_records.hpp"
#include "modules/checkpoint/process_identity.hpp"
#include "modules/checkpoint/text_exchange.hpp"
#include "modules/checkpoint/view_file.hpp"
#include "modules/checkpoint/write_plan.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

constexpr std::int64_t largest_block_bytes = std::int64_t{64} << 20;
constexpr int most_parts = 100'000;

void write_files(const std::filesystem::path& folder, const CheckpointContents& contents,
                 CheckpointManifest& manifest) {
  if (contents.files.empty()) return;
  std::filesystem::create_directory(folder / files_folder);
  for (const auto& [name, text] : contents.files) {
    require(is_plain_file_name(name), "a file of a checkpoint has a plain name");
    write_file_atomically(folder / files_folder / name, text);
    manifest.files.push_back({name, static_cast<std::int64_t>(text.size()), text_checksum(text)});
  }
}

// Rank 0: everything that is known before the first part is written.
CheckpointManifest begin_manifest(const Communicator& comm, const FolderKind& kind,
                                  const CheckpointContents& contents, const CheckpointOptions& options) {
  require(contents.step >= 0, "a step is not negative");
  CheckpointManifest manifest;
  manifest.id = random_id();
  manifest.kind = kind.kind;
  manifest.step = contents.step;
  if (std::isfinite(contents.loss)) manifest.loss = contents.loss;
  manifest.created = utc_now();
  manifest.read_back = options.read_back == ReadBack::full;
  manifest.restarted_from = kind.restarted_from;
  const ProcessIdentity self = this_process();
  manifest.written_by = {{"ranks", comm.size()}, {"host", self.host}, {"job", self.job}};
  manifest.training_state = contents.training_state;
  return manifest;
}

// Every rank reads a share. Where parts have writers on several nodes, most of it comes from another node;
// caches are dropped before.
void read_back(const Communicator& comm, const std::filesystem::path& folder, const std::string& text) {
  together(comm, "reading the checkpoint back", [&] {
    const CheckpointReader reader(folder, parse_manifest(text, (folder / manifest_file).string()));
    reader.check_sizes();
    reader.verify_blocks((comm.rank() + comm.size() / 2) % comm.size(), comm.size());
  });
}

// Rank 0: the view, then the manifest, which makes the folder a checkpoint; both folders' entries are then on
// disk.
void finish_folder(const std::filesystem::path& folder, const CheckpointManifest& manifest,
                   const std::string& text) {
  write_view(folder, manifest);
  const CheckpointReader written(folder, manifest);
  for (const StoredFile& file : manifest.files) written.file(file.name);
  write_file_atomically(folder / manifest_file, text);
  const std::string on_disk = read_file(folder / manifest_file, static_cast<std::int64_t>(text.size()));
  if (on_disk != text) {
    fail(ExitCode::cannot_write,
         fmt::format("{}: reads back differently", (folder / manifest_file).string()));
  }
  fsync_path(folder);
}

}  // namespace

void check_options(const CheckpointOptions& options) {
  const auto expect = [](bool condition, const std::string& what) {
    if (!condition) fail(ExitCode::usage, what);
  };
  expect(options.keep >= 2, fmt::format("checkpoints to keep: {}, at least 2 are", options.keep));
  expect(options.writers >= 1 && options.writers <= most_parts,
         fmt::format("writers of a checkpoint: {}, allowed 1 to {}", options.writers, most_parts));
  expect(options.block_bytes >= 8 && options.block_bytes <= largest_block_bytes,
         fmt::format("bytes of a checkpoint's block: {}, allowed 8 to {}", options.block_bytes,
                     largest_block_bytes));
  expect(options.deadline.count() >= 0, "the deadline of a checkpoint is negative");
}

std::int64_t folder_bytes(std::int64_t tensor_bytes) {
  return tensor_bytes + tensor_bytes / 10 + (std::int64_t{1} << 20);
}

void require_free_space(const std::filesystem::path& folder, std::int64_t bytes) {
  struct statvfs status {};
  if (::statvfs(folder.c_str(), &status) != 0) {
    fail(ExitCode::cannot_write,
         fmt::format("{}: cannot ask for its free space: {}", folder.string(), std::strerror(errno)));
  }
  const double free_bytes = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
  if (free_bytes >= static_cast<double>(bytes)) return;
  fail(ExitCode::cannot_write, fmt::format("{}: {} bytes are needed for a checkpoint, {:.0f} are free",
                                           folder.string(), bytes, free_bytes));
}

std::int64_t total_bytes(const Communicator& comm, std::span<const LocalBlock> blocks) {
  const std::int64_t mine =
      together(comm, "measuring the checkpoint", [&] { return bytes_of_blocks(blocks); });
  return comm.all_reduce_value(mine, ReduceOp::sum);
}

CheckpointManifest save_folder(const Communicator& comm, const std::filesystem::path& folder,
                               const FolderKind& kind, const CheckpointContents& contents,
                               std::span<const LocalBlock> blocks, const CheckpointOptions& options) {
  const bool first = comm.rank() == 0;
  CheckpointManifest manifest;
  const std::string id = agree_on_text(comm, "starting the checkpoint", [&] {
    manifest = begin_manifest(comm, kind, contents, options);
    write_files(folder, contents, manifest);
    return manifest.id;
  });
  const std::vector<WrittenPart> written = write_parts(comm, folder, id, blocks, options);
  const std::vector<std::string> records = gather_texts(comm, records_text(written));
  const std::string text = agree_on_text(comm, "completing the manifest", [&] {
    std::vector<WrittenPart> parts;
    for (const std::string& record : records) {
      for (WrittenPart& part : parse_records(record)) parts.push_back(std::move(part));
    }
    merge_records(std::move(parts), manifest);
    return manifest_text(manifest);
  });
  if (options.read_back == ReadBack::full) read_back(comm, folder, text);
  together(comm, "finishing the checkpoint", [&] {
    if (first) finish_folder(folder, manifest, text);
  });
  return manifest;
}

}  // namespace charter
