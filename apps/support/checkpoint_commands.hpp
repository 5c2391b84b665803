// SPDX-License-Identifier: Apache-2.0
// What checkpoint_tool does: one function a command, each prints on standard output and throws Error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_reader.hpp"
#include "src/base/exit_code.hpp"
#include "src/options/command_set.hpp"

namespace charter {

struct CheckpointToolOptions {
  std::filesystem::path run;
  std::filesystem::path checkpoint;  // or a run folder: its newest
  std::filesystem::path other;
  bool tensors = false;
  std::vector<std::string> groups;
  std::int64_t keep = 0;
  std::int64_t keep_every = 0;
  bool steal_lock = false;
  bool dry_run = false;
};

void add_checkpoint_commands(CommandSet& set, CheckpointToolOptions& options);
// The functions below by the names of their commands.
std::map<std::string, std::function<ExitCode()>> checkpoint_programs(const CheckpointToolOptions& options);

// A table of all checkpoints of a run, with what a manifest tells.
ExitCode list_checkpoints(const std::filesystem::path& run);
// One checkpoint's manifest; with `tensors` each tensor.
ExitCode show_checkpoint(const std::filesystem::path& path, bool tensors);
// Reads one checkpoint, or all of a run. Throws bad_input naming all that is damaged.
ExitCode verify_checkpoints(const std::filesystem::path& path);
// Compares two checkpoints: done when they are equal, else different.
ExitCode diff_checkpoints(const std::filesystem::path& first, const std::filesystem::path& second,
                          const std::vector<std::string>& groups);
// Deletes checkpoints of a run that no job holds. Throws configuration when one does, cannot_write.
ExitCode prune_checkpoints(const CheckpointToolOptions& options);

// <run>/checkpoints. Throws missing_input when there is none.
std::filesystem::path checkpoints_of(const std::filesystem::path& run);
// A checkpoint by its folder, or a run's newest. Throws missing_input, DamagedCheckpoint.
CheckpointReader open_checkpoint(const std::filesystem::path& path);
// On standard output, at once.
void print(const std::string& text);

}  // namespace charter
