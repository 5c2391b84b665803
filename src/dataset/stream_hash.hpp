// SPDX-License-Identifier: Apache-2.0
// A 128-bit fingerprint of bytes that pass by in pieces (XXH3). It finds damage and change, not forgery.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "src/base/fingerprint.hpp"

namespace charter {

class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(StreamHash&&) noexcept;
  StreamHash& operator=(StreamHash&&) noexcept;

  void update(std::span<const std::byte> bytes);
  // Of everything so far; more may follow.
  Fingerprint digest() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace charter
