// SPDX-License-Identifier: Apache-2.0
// checkpoint_tool prune: the retention of a run, applied by hand.
#include <optional>

#include <fmt/format.h>

#include "apps/support/checkpoint_commands.hpp"
#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "modules/checkpoint/retention.hpp"
#include "modules/checkpoint/run_lock.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

// A checkpoint that cannot be used (a damaged manifest, a link to nowhere) counts for nothing, so that sound
// ones stay in its place.
bool was_read_back(const std::filesystem::path& folder) {
  try {
    return read_checkpoint_folder(folder).manifest().read_back;
  } catch (const Error&) {
    return false;
  }
}

RetentionRule rule_of(const CheckpointCatalogue& catalogue, const CheckpointToolOptions& options) {
  RetentionRule rule;
  rule.keep = static_cast<int>(options.keep);
  rule.keep_every = options.keep_every;
  rule.pinned = catalogue.pinned();
  const auto best = catalogue.best();
  const std::filesystem::path mark = catalogue.folder() / "BEST";
  if (!best && std::filesystem::exists(mark)) {
    fail(
        ExitCode::bad_input,
        fmt::format("{}: does not name a checkpoint that is there, so the best one cannot be kept; repair or "
                    "delete the file first",
                    mark.string()));
  }
  if (best) rule.pinned.insert(best->step);
  return rule;
}

std::int64_t bytes_below(const std::filesystem::path& folder) {
  std::int64_t bytes = 0;
  if (!std::filesystem::is_directory(folder)) return bytes;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) bytes += static_cast<std::int64_t>(entry.file_size());
  }
  return bytes;
}

}  // namespace

ExitCode prune_checkpoints(const CheckpointToolOptions& options) {
  const CheckpointCatalogue catalogue(checkpoints_of(options.run));
  // A job that runs here keeps what it needs by rules of its own; looking changes nothing.
  std::optional<RunLock> lock;
  if (!options.dry_run) lock.emplace(options.run, options.steal_lock ? StealLock::yes : StealLock::no);
  std::vector<KeptCheckpoint> checkpoints;
  for (const std::int64_t step : catalogue.committed())
    checkpoints.push_back({step, was_read_back(catalogue.path_of(step))});
  const std::vector<std::int64_t> doomed = steps_to_delete(checkpoints, rule_of(catalogue, options));
  std::int64_t freed = 0;
  for (const std::int64_t step : doomed) {
    const std::filesystem::path folder = catalogue.path_of(step);
    const std::int64_t bytes = bytes_below(folder);
    if (!options.dry_run) {
      catalogue.remove(step);
      if (std::filesystem::exists(folder))
        fail(ExitCode::cannot_write, fmt::format("{}: cannot be deleted", folder.string()));
    }
    print(fmt::format("{} {} ({})\n", options.dry_run ? "would delete" : "deleted", folder.string(),
                      format_bytes(bytes)));
    freed += bytes;
  }
  print(fmt::format("{} of {} checkpoints {}, {} {}\n", checkpoints.size() - doomed.size(),
                    checkpoints.size(), options.dry_run ? "would stay" : "stay", format_bytes(freed),
                    options.dry_run ? "would be freed" : "freed"));
  return ExitCode::done;
}

}  // namespace charter
