// SPDX-License-Identifier: Apache-2.0
// A file descriptor that is closed on every path. What close() says is not looked at: a file that was written
// is flushed by hand before.
#pragma once

#include <utility>

#include <unistd.h>

namespace charter {

class Descriptor {
 public:
  // Takes it over; a negative one (a failed open) is nothing.
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return descriptor_; }
  // Whoever asked closes it.
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

}  // namespace charter
