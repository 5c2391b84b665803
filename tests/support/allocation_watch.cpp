// SPDX-License-Identifier: Apache-2.0
#include "tests/support/allocation_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include <malloc.h>

namespace charter::test {
namespace {

std::atomic<std::size_t> held = 0;
std::atomic<std::size_t> most_held = 0;
std::atomic<std::size_t> largest_request = 0;
std::atomic<std::size_t> held_at_start = 0;

}  // namespace

AllocationWatch::AllocationWatch() {
  held_at_start = held.load();
  most_held = held.load();
  largest_request = 0;
}

std::size_t AllocationWatch::largest() const {
  return largest_request;
}

std::size_t AllocationWatch::peak() const {
  return most_held - held_at_start;
}

void* take(std::size_t bytes) {
  largest_request = std::max(largest_request.load(), bytes);
  void* memory = std::malloc(std::max<std::size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  held += ::malloc_usable_size(memory);
  most_held = std::max(most_held.load(), held.load());
  return memory;
}

void give_back(void* memory) {
  if (memory == nullptr) return;
  held -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace charter::test

void* operator new(std::size_t bytes) {
  return charter::test::take(bytes);
}
void* operator new[](std::size_t bytes) {
  return charter::test::take(bytes);
}
void operator delete(void* memory) noexcept {
  charter::test::give_back(memory);
}
void operator delete[](void* memory) noexcept {
  charter::test::give_back(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  charter::test::give_back(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  charter::test::give_back(memory);
}
