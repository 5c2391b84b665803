// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/stream_hash.hpp"

#include <xxhash.h>

#include "src/base/error.hpp"

namespace charter {

struct StreamHash::State {
  XXH3_state_t* xxh = XXH3_createState();
  State() { require(xxh != nullptr && XXH3_128bits_reset(xxh) == XXH_OK, "a hash state can be made"); }
  ~State() { XXH3_freeState(xxh); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

StreamHash::StreamHash() : state_(std::make_unique<State>()) {}
StreamHash::~StreamHash() = default;
StreamHash::StreamHash(StreamHash&&) noexcept = default;
StreamHash& StreamHash::operator=(StreamHash&&) noexcept = default;

void StreamHash::update(std::span<const std::byte> bytes) {
  require(XXH3_128bits_update(state_->xxh, bytes.data(), bytes.size()) == XXH_OK, "a hash takes more bytes");
}

Fingerprint StreamHash::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(state_->xxh);
  return {hash.low64, hash.high64};
}

}  // namespace charter
