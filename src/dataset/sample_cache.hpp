// SPDX-License-Identifier: Apache-2.0
// A SampleStore as one flat file: written once by one process, memory-mapped by all. Format version 1,
// little-endian, every section at a multiple of 64 bytes: header (128 bytes) | ids int32 | mask bits uint64 |
// offsets int64 | loss counts int32 | description (JSON). The header carries counts, the file's length, and
// hashes of itself, the arrays and the description.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "src/base/json.hpp"
#include "src/dataset/sample_store.hpp"
#include "src/dataset/stream_hash.hpp"

namespace charter {

struct SampleCache {
  SampleStore store;
  Json description;         // what the writer's finish() was given
  TokenId largest_id = -1;  // the model's vocabulary must be larger
};

// `structure` checks lengths, header, description and offsets, so that no access can leave the mapping;
// `full` also reads every byte and compares the hash of the arrays. One rank checks fully, the others the
// structure.
enum class CacheCheck : std::uint8_t { structure, full };

// Throws missing_input, io_error, or bad_input saying what is damaged and to delete the file so that it is
// made again.
SampleCache open_sample_cache(const std::filesystem::path& path, CacheCheck check);

// Writes ids as they come (mask and index stay in memory: about 1/32 of them and 12 bytes a sample) to
// path.tmp, which finish() completes, flushes and renames. A writer that goes away unfinished removes its
// file.
class SampleCacheWriter {
 public:
  // Throws cannot_write, as the other members do.
  explicit SampleCacheWriter(const std::filesystem::path& path);
  ~SampleCacheWriter();
  SampleCacheWriter(const SampleCacheWriter&) = delete;
  SampleCacheWriter& operator=(const SampleCacheWriter&) = delete;

  void add(const Sample& sample);
  std::int64_t samples() const { return static_cast<std::int64_t>(index_.loss_tokens().size()); }
  void finish(const Json& description);

 private:
  void write(std::span<const std::byte> bytes);
  void pad();
  [[noreturn]] void give_up(const char* step) const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int fd_ = -1;
  std::int64_t written_ = 0;
  std::vector<TokenId> pending_;
  SampleIndexBuilder index_;
  StreamHash content_;
  TokenId largest_id_ = -1;
};

}  // namespace charter
