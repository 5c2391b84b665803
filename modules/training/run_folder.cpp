// SPDX-License-Identifier: Apache-2.0
#include "modules/training/run_folder.hpp"

#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/training/shared_folder.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    fail(ExitCode::cannot_write,
         fmt::format("{}: cannot make the folder: {}", folder.string(), error.message()));
}

bool contains_checkpoints(const std::filesystem::path& run_dir) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run_dir / "checkpoints", error)) {
    // Damaged ones that were put aside count: training never begins from scratch beside them.
    const std::string name = entry.path().filename().string();
    if (name.starts_with("step-") && name.find(".tmp.") == std::string::npos) return true;
  }
  return false;
}

// A job that was just killed may take a moment to die: its launcher is gone before its ranks are.
RunLock take_lock(const TrainingOptions& options) {
  constexpr auto patience = std::chrono::seconds(8);
  const auto end = std::chrono::steady_clock::now() + patience;
  while (true) {
    try {
      return RunLock(options.run_dir, options.steal_lock ? StealLock::yes : StealLock::no);
    } catch (const Error& error) {
      if (error.code() != ExitCode::configuration || std::chrono::steady_clock::now() > end) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

}  // namespace

void refuse_changed_settings(const OptionSet& set, const std::string& config, const std::string& where) {
  const auto differences = set.compare_for_resume(config, where);
  if (differences.empty()) return;
  std::string text = fmt::format("{}: this run was started with other settings:", where);
  for (const OptionDifference& one : differences) {
    text += fmt::format("\n  --{}: then {}, now {}", one.name, one.then, one.now);
  }
  fail(ExitCode::configuration, text +
                                    "\nUse the earlier values. To change them, begin another run: a new "
                                    "--run-dir, with --model naming this run or one of its checkpoints");
}

RunFolder::RunFolder(const Communicator& world, const OptionSet& set, const TrainingOptions& options,
                     const std::string& job_token) {
  const bool found = together(world, "opening the run folder", [&] {
    if (world.rank() != 0) return false;
    make_folder(options.run_dir);
    make_folder(options.run_dir / "checkpoints");
    make_folder(options.run_dir / "cache");
    lock_.emplace(take_lock(options));
    const bool there = contains_checkpoints(options.run_dir);
    const std::filesystem::path config = options.run_dir / "config.ini";
    if (there && options.resume == "never") {
      fail(ExitCode::configuration, fmt::format("{}: holds checkpoints already, but --resume is never; use "
                                                "--resume auto or another --run-dir",
                                                options.run_dir.string()));
    }
    if (there && path_exists(config)) refuse_changed_settings(set, read_file(config), config.string());
    set_log_file(options.run_dir / "log.txt");
    write_file_atomically(config, set.write_config_ini());
    // A run copied without its checkpoints, or one lost before the first of them.
    const bool from_scratch = !there && (options.resume == "auto" || options.resume == "never");
    if (from_scratch && path_exists(options.run_dir / "metrics.jsonl")) {
      log_warning(fmt::format("{}: has metrics of earlier steps but no checkpoint: training begins at step 0",
                              options.run_dir.string()));
    }
    return there;
  });
  require_shared_folder(world, options.run_dir, job_token);
  has_checkpoints_ = world.all_reduce_value<std::int32_t>(found ? 1 : 0, ReduceOp::max) != 0;
}

}  // namespace charter
