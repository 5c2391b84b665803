// SPDX-License-Identifier: Apache-2.0
// An opened checkpoint. Tensors are read block by block, each block's checksum compared before its values are
// handed on, so that nothing damaged ever reaches the model. Reading is free of the mesh that wrote. view.h5
// is never opened. Memory: one block (at most 64 MiB) kept and, in read_replicated, one more to receive. One
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "modules/checkpoint/block_geometry.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "modules/checkpoint/manifest.hpp"

namespace charter {

class BlockReader;
class Communicator;

// A tensor as the caller's model wants it.
struct ExpectedTensor {
  std::string group;
  std::string name;
  std::vector<std::int64_t> shape;
  std::optional<DataType> type = std::nullopt;  // any when not given
};

// Takes elements [first_element, first_element + bytes.size() / element size) of the logical tensor in
// row-major order.
using RunConsumer = std::function<void(std::int64_t first_element, std::span<const std::byte> bytes)>;

class CheckpointReader {
 public:
  // Local. Of a folder whose manifest has been parsed. Use CheckpointStore or read_checkpoint_folder to get
  // one.
  CheckpointReader(const std::filesystem::path& folder, CheckpointManifest manifest);
  ~CheckpointReader();
  CheckpointReader(CheckpointReader&&) noexcept;
  CheckpointReader& operator=(CheckpointReader&&) noexcept;

  // Local, all up to verify_blocks.
  const std::filesystem::path& folder() const;
  const CheckpointManifest& manifest() const;
  std::int64_t step() const { return manifest().step; }
  const Json& training_state() const { return manifest().training_state; }
  const std::vector<StoredTensor>& tensors() const { return manifest().tensors; }
  bool has_file(const std::string& name) const;
  // The text of a file below files/, its hash compared. Throws missing_input when it is not listed,
  // DamagedCheckpoint.
  std::string file(const std::string& name) const;

  // Throws Error(bad_input) listing every tensor that is missing, unexpected (its group is one of those
  // expected) or of another shape or type. Groups nobody expects are not looked at. The same verdict on all
  // ranks: no communication.
  void require_exactly(std::span<const ExpectedTensor> expected) const;

  // The size of every part and file against the manifest, without opening any. Throws DamagedCheckpoint.
  void check_sizes() const;

  // Elements of the rectangle [offset, offset + extent) of a tensor, row-major, into `out`, whose size is
  // extent's volume times the size of the stored type. Whole blocks are read and their checksums compared.
  // For shards. Throws missing_input for an unknown tensor, internal when `out` does not fit,
  // DamagedCheckpoint.
  void read_block(const std::string& group, const std::string& name, std::span<const std::int64_t> offset,
                  std::span<const std::int64_t> extent, std::span<std::byte> out) const;
  // Elements [first, first + out.size() / element size) in row-major order, likewise.
  void read_range(const std::string& group, const std::string& name, std::int64_t first,
                  std::span<std::byte> out) const;

  // Parts are dropped from this machine's page cache as far as the system allows, so that the next read sees
  // the disk.
  void drop_caches() const;

  // Share `share` of `shares` of all blocks: each is read from the disk (drop_caches) and its checksum
  // compared. Throws DamagedCheckpoint.
  void verify_blocks(int share, int shares) const;

  // Collective over `group_of_ranks`. Gives the whole tensor to every rank, in runs that together are all of
  // it: each block is read by one rank, in turn, and broadcast. The fingerprint of what was given is compared
  // with the manifest's. Throws the same error on all ranks. A consumer may throw: its error is agreed at the
  // end.
  void read_replicated(const Communicator& group_of_ranks, const std::string& group, const std::string& name,
                       const RunConsumer& consume) const;

  // Collective. Fingerprints of what the ranks hold after loading (the same blocks as for saving, each
  // element once) against the manifest's. Throws Error(internal) naming all tensors that differ.
  void require_fingerprints(const Communicator& group_of_ranks, std::span<const LocalBlock> blocks) const;

  // Local. What damage this rank met so far; empty when none.
  const std::string& damage() const;

 private:
  const StoredTensor& tensor(const std::string& group, const std::string& name) const;

  std::filesystem::path folder_;
  std::shared_ptr<const CheckpointManifest> manifest_;
  std::unique_ptr<BlockReader> blocks_;
};

// Local. Parses the manifest and checks sizes. Throws missing_input (no such folder, a link that
// leads nowhere, not readable), DamagedCheckpoint, Error(configuration) for a newer schema.
CheckpointReader read_checkpoint_folder(const std::filesystem::path& folder);

}  // namespace charter
