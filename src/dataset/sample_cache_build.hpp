// SPDX-License-Identifier: Apache-2.0
// Data files to a sample cache, tokenised once for a run folder, and the check that an existing cache still
// belongs to the same files and settings. One process does it; the others open the result.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "src/dataset/sample_cache.hpp"
#include "src/dataset/sft_sample.hpp"

namespace charter {

struct SampleCacheRequest {
  std::vector<std::filesystem::path> files;  // read in this order
  SftOptions options;
  std::int64_t skip_bad = 0;  // unusable records passed over, over all files
  // Called with every usable record, its file's place in `files`, and the samples made of it; may be empty.
  std::function<void(std::size_t file, const Record&, std::span<const Sample>)> on_record;
  // Called from time to time while files are read, for a progress line; may be empty.
  std::function<void(const DatasetStatistics&)> progress;
};

// Reads, renders and tokenises all files and writes the cache atomically. Throws bad_input (a record, no
// samples at all, or a file that changes while it is read), missing_input, cannot_write.
DatasetStatistics build_sample_cache(const std::filesystem::path& cache, const SampleCacheRequest& request,
                                     const ChatTemplate& chat_template, const Tokenizer& tokenizer);

// The cache at `cache`, fully checked, built first when there is none. An existing cache must come from the
// same tokenizer, template and options and from files of the same content: files whose size or time differ
// are read again and compared. Throws bad_input naming what differs.
SampleCache open_or_build_sample_cache(const std::filesystem::path& cache, const SampleCacheRequest& request,
                                       const ChatTemplate& chat_template, const Tokenizer& tokenizer);

// The counts stored in an open cache. Throws bad_input.
DatasetStatistics statistics_of(const SampleCache& cache);

// The samples that each data file gave, in the order of the request. Throws bad_input.
std::vector<std::int64_t> samples_by_file(const SampleCache& cache);

}  // namespace charter
