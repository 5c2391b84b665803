// SPDX-License-Identifier: Apache-2.0
// Counts what a piece of code takes from the heap. A test that links charter_allocation_watch has the global
// operator new replaced by one that counts. One thread at a time.
#pragma once

#include <cstddef>

namespace charter::test {

class AllocationWatch {
 public:
  // Counting starts here.
  AllocationWatch();
  // The largest single request since then, and the most that was held beyond what was held at the start.
  // Bytes.
  std::size_t largest() const;
  std::size_t peak() const;
};

}  // namespace charter::test
