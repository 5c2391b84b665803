// SPDX-License-Identifier: Apache-2.0
// Where memory lives and what it is for. Every allocation of the pool names both.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace charter {

enum class Space : std::uint8_t { host, pinned, device };
inline constexpr std::array<Space, 3> all_spaces{Space::host, Space::pinned, Space::device};

// What libraries take outside the pool is measured, not pooled (report/process_memory.hpp).
enum class MemoryCategory : std::uint8_t {
  parameters,
  gradients,
  optimizer,
  activations,
  communication,
  workspace,
  kv_cache,
  snapshot,
};
inline constexpr int num_memory_categories = 8;

std::string_view to_string(Space space);
std::string_view to_string(MemoryCategory category);

}  // namespace charter
