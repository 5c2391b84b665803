// SPDX-License-Identifier: Apache-2.0
#include "modules/training/memory_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/report/console_table.hpp"
#include "src/report/format_units.hpp"

namespace charter {

std::string pool_table(const std::vector<PoolUse>& uses) {
  ConsoleTable table(
      {{"pool at its peak", Align::left}, {"smallest rank", Align::right}, {"largest rank", Align::right}});
  const auto add = [&](const std::string& name, const auto& value) {
    std::int64_t least = value(uses.front());
    std::int64_t most = least;
    for (const PoolUse& use : uses) {
      least = std::min(least, value(use));
      most = std::max(most, value(use));
    }
    if (most > 0) table.add_row({name, format_bytes(least), format_bytes(most)});
  };
  for (int category = 0; category < num_memory_categories; ++category) {
    add(std::string(to_string(static_cast<MemoryCategory>(category))),
        [category](const PoolUse& use) { return use.at_peak[static_cast<std::size_t>(category)]; });
  }
  add("total", [](const PoolUse& use) { return use.peak_bytes; });
  add("held by the pool", [](const PoolUse& use) { return use.extent_bytes; });
  return table.render();
}

std::string describe_memory(const MemoryPool& pool, const ProcessMemory& at_start) {
  const PoolUse& use = pool.use(Space::device);
  const ProcessMemory now = process_memory();
  return fmt::format(
      "{}\nmemory of this rank: pool peak {} (held {}), outside the pool {}, process peak {} without file "
      "mappings",
      pool.report(), format_bytes(use.peak_bytes), format_bytes(use.extent_bytes),
      format_bytes(external_bytes(at_start, now)), format_bytes(now.peak_resident - now.file_mapped));
}

}  // namespace charter
