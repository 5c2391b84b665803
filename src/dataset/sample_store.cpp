// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/sample_store.hpp"

#include <limits>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/dataset/stream_hash.hpp"

namespace charter {
namespace {

struct OwnedArrays {
  std::vector<TokenId> ids;
  SampleIndexBuilder index;
};

bool bit(std::span<const std::uint64_t> mask, std::int64_t k) {
  return (mask[static_cast<std::size_t>(k >> 6)] >> (k & 63) & 1) != 0;
}

}  // namespace

void SampleIndexBuilder::add(const Sample& sample) {
  require(sample.ids.size() == sample.loss_mask.size() && sample.ids.size() >= 2 &&
              sample.loss_mask[0] == 0 &&
              sample.ids.size() <= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
          "a sample has at least two ids, a mask of equal length, and no loss on its first id");
  const std::int64_t first = offsets_.back();
  const std::int64_t end = first + static_cast<std::int64_t>(sample.ids.size());
  mask_.resize(static_cast<std::size_t>((end + 63) / 64), 0);
  std::int32_t counted = 0;
  for (std::int64_t k = first; k < end; ++k) {
    if (sample.loss_mask[static_cast<std::size_t>(k - first)] == 0) continue;
    mask_[static_cast<std::size_t>(k >> 6)] |= std::uint64_t{1} << (k & 63);
    ++counted;
  }
  offsets_.push_back(end);
  loss_tokens_.push_back(counted);
}

SampleStore SampleStore::of(std::span<const Sample> samples) {
  const auto owned = std::make_shared<OwnedArrays>();
  for (const Sample& sample : samples) {
    owned->index.add(sample);
    owned->ids.insert(owned->ids.end(), sample.ids.begin(), sample.ids.end());
  }
  const SampleArrays arrays{owned->ids, owned->index.mask(), owned->index.offsets(),
                            owned->index.loss_tokens()};
  return {arrays, sample_arrays_fingerprint(arrays), owned};
}

SampleStore::SampleStore(SampleArrays arrays, const Fingerprint& content, std::shared_ptr<const void> owner)
    : arrays_(arrays), content_(content), owner_(std::move(owner)) {}

std::span<const TokenId> SampleStore::ids(std::int64_t sample) const {
  require(sample >= 0 && sample < size(), "a sample's index lies inside its store");
  const auto i = static_cast<std::size_t>(sample);
  return arrays_.ids.subspan(static_cast<std::size_t>(arrays_.offsets[i]),
                             static_cast<std::size_t>(arrays_.offsets[i + 1] - arrays_.offsets[i]));
}

bool SampleStore::counts(std::int64_t sample, std::int64_t position) const {
  require(position >= 0 && position <= input_tokens(sample), "a position lies inside its sample");
  return bit(arrays_.mask, arrays_.offsets[static_cast<std::size_t>(sample)] + position);
}

Sample SampleStore::sample(std::int64_t sample) const {
  const std::span<const TokenId> view = ids(sample);
  Sample copy{{view.begin(), view.end()}, {}};
  copy.loss_mask.reserve(view.size());
  const std::int64_t first = arrays_.offsets[static_cast<std::size_t>(sample)];
  for (std::int64_t k = 0; k < static_cast<std::int64_t>(view.size()); ++k) {
    copy.loss_mask.push_back(bit(arrays_.mask, first + k) ? 1 : 0);
  }
  return copy;
}

std::int64_t SampleStore::input_tokens(std::int64_t sample) const {
  return static_cast<std::int64_t>(ids(sample).size()) - 1;
}

std::int64_t SampleStore::loss_tokens(std::int64_t sample) const {
  require(sample >= 0 && sample < size(), "a sample's index lies inside its store");
  return arrays_.loss_tokens[static_cast<std::size_t>(sample)];
}

Fingerprint sample_arrays_fingerprint(const SampleArrays& arrays) {
  StreamHash hash;
  hash.update(std::as_bytes(arrays.ids));
  hash.update(std::as_bytes(arrays.mask));
  hash.update(std::as_bytes(arrays.offsets));
  hash.update(std::as_bytes(arrays.loss_tokens));
  return hash.digest();
}

void check_sample_arrays(const SampleArrays& arrays, const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    fail(ExitCode::bad_input, fmt::format("{}: {}", where, what));
  };
  const std::size_t samples = arrays.loss_tokens.size();
  const auto ids = static_cast<std::int64_t>(arrays.ids.size());
  if (arrays.offsets.size() != samples + 1) refuse("the number of offsets is not samples + 1");
  if (arrays.mask.size() != (arrays.ids.size() + 63) / 64) refuse("the mask has another length than the ids");
  if (arrays.offsets.front() != 0 || arrays.offsets.back() != ids) refuse("the offsets do not cover all ids");
  for (std::size_t i = 0; i < samples; ++i) {
    const std::int64_t first = arrays.offsets[i];
    const std::int64_t end = arrays.offsets[i + 1];
    if (first < 0 || end > ids || end - first < 2) {
      refuse(fmt::format("sample {} has ids [{}, {}) of {}, expected at least two", i, first, end, ids));
    }
    const std::int64_t counted = arrays.loss_tokens[i];
    if (counted < 0 || counted > end - first - 1) {
      refuse(fmt::format("sample {} claims {} counted targets of {}", i, counted, end - first - 1));
    }
  }
}

}  // namespace charter
