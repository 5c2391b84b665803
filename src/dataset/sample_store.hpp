// SPDX-License-Identifier: Apache-2.0
// All samples of a data set as flat arrays, read-only: in memory, or views of a mapped cache file
// (sample_cache.hpp). Cheap to copy; copies share the arrays, and every member may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/base/fingerprint.hpp"
#include "src/dataset/sample.hpp"

namespace charter {

// The arrays themselves. Sample i has ids[offsets[i], offsets[i+1]); bit k of the mask belongs to ids[k].
struct SampleArrays {
  std::span<const TokenId> ids;
  std::span<const std::uint64_t> mask;
  std::span<const std::int64_t> offsets;      // size samples + 1, from 0 to ids.size()
  std::span<const std::int32_t> loss_tokens;  // by sample
};

class SampleStore {
 public:
  // Copies samples into arrays of its own. Throws internal on a sample that breaks the rules of sample.hpp.
  static SampleStore of(std::span<const Sample> samples);
  // Views kept alive by `owner`; the arrays were checked by check_sample_arrays.
  SampleStore(SampleArrays arrays, const Fingerprint& content, std::shared_ptr<const void> owner);

  std::int64_t size() const { return static_cast<std::int64_t>(arrays_.loss_tokens.size()); }
  std::span<const TokenId> ids(std::int64_t sample) const;
  // Whether predicting ids(sample)[position] counts.
  bool counts(std::int64_t sample, std::int64_t position) const;
  Sample sample(std::int64_t sample) const;
  // Positions given to the model: ids - 1. Targets that count.
  std::int64_t input_tokens(std::int64_t sample) const;
  std::int64_t loss_tokens(std::int64_t sample) const;
  // Of all arrays: two stores train alike when these are equal.
  const Fingerprint& fingerprint() const { return content_; }
  const SampleArrays& arrays() const { return arrays_; }

 private:
  SampleArrays arrays_;
  Fingerprint content_;
  std::shared_ptr<const void> owner_;
};

// Appends one sample after another to growing arrays; the ids go where the caller wants them (memory or a
// file).
class SampleIndexBuilder {
 public:
  // Throws internal on a sample that breaks the rules of sample.hpp.
  void add(const Sample& sample);
  const std::vector<std::uint64_t>& mask() const { return mask_; }
  const std::vector<std::int64_t>& offsets() const { return offsets_; }
  const std::vector<std::int32_t>& loss_tokens() const { return loss_tokens_; }
  std::int64_t ids() const { return offsets_.back(); }

 private:
  std::vector<std::uint64_t> mask_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> loss_tokens_;
};

// Ids, mask, offsets, loss counts, in this order, through StreamHash.
Fingerprint sample_arrays_fingerprint(const SampleArrays& arrays);

// Throws bad_input starting with `where` unless the arrays fit together: offsets from 0 to ids.size(), at
// least two ids in each sample, loss counts within the sample. Reads offsets and loss counts only, not ids or
// mask.
void check_sample_arrays(const SampleArrays& arrays, const std::string& where);

}  // namespace charter
