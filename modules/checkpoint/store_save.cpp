// SPDX-License-Identifier: Apache-2.0
// CheckpointStore's saving side: room, folder in flight, commit, retention.
#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checkpoint_store.hpp"
#include "modules/checkpoint/retention.hpp"
#include "modules/checkpoint/save_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

// What a full or failing disk (or memory) leads to: training may go on without this checkpoint. Everything
// else is a fault of the program or of the fabric.
bool is_survivable(ExitCode code) {
  return code == ExitCode::cannot_write || code == ExitCode::io_error || code == ExitCode::bad_input ||
         code == ExitCode::missing_input || code == ExitCode::out_of_memory;
}

}  // namespace

SaveResult CheckpointStore::save(const CheckpointContents& contents, std::span<const LocalBlock> blocks) {
  const auto start = std::chrono::steady_clock::now();
  const auto step = std::stoll(
      agree_on_text(comm_, "starting a checkpoint", [&] { return std::to_string(contents.step); }));
  SaveResult result;
  if (newest_step() == step) {
    result.committed = true;
    result.already_there = true;
    return result;
  }
  result.bytes = total_bytes(comm_, blocks);
  const ScopedPhase phase(comm_.log(), "saving a checkpoint", deadline_for(result.bytes));
  std::filesystem::path in_flight;
  try {
    in_flight = agree_on_text(comm_, "making room for a checkpoint", [&] {
      make_room(folder_bytes(result.bytes));
      return catalogue_.begin(step, options_.job_id).string();
    });
    save_folder(comm_, in_flight, {"training", restarted_from_}, contents, blocks, options_);
    together(comm_, "committing the checkpoint", [&] {
      if (comm_.rank() == 0) commit(in_flight, step);
    });
  } catch (const AgreedError& error) {
    if (comm_.rank() == 0 && !in_flight.empty()) catalogue_.discard(in_flight);
    if (!is_survivable(error.code())) throw;
    result.reason = error.what();
    result.failures_in_a_row = ++failures_in_a_row_;
    return result;
  }
  failures_in_a_row_ = 0;
  last_committed_ = step;
  own_.insert(step);
  is_verified_[step] = options_.read_back == ReadBack::full;
  together(comm_, "after the commit of a checkpoint", [&] {
    if (comm_.rank() == 0) apply_retention(options_.keep);
  });
  result.committed = true;
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

// Written and read back at a rate that a busy file system still reaches through one writer.
std::chrono::milliseconds CheckpointStore::deadline_for(std::int64_t bytes) const {
  constexpr std::int64_t slowest_bytes_per_ms = 25'000;
  return std::max(options_.deadline, std::chrono::milliseconds(bytes / slowest_bytes_per_ms));
}

// Rank 0. Where space is short, older checkpoints beyond the two that always stay are given up first.
void CheckpointStore::make_room(std::int64_t bytes) const {
  try {
    require_free_space(catalogue_.folder(), bytes);
  } catch (const Error& error) {
    const std::int64_t deleted = apply_retention(2);
    if (deleted == 0) throw;
    log_warning(fmt::format("{}; {} older checkpoints deleted", error.what(), deleted));
    require_free_space(catalogue_.folder(), bytes);
  }
}

// Rank 0.
void CheckpointStore::commit(const std::filesystem::path& in_flight, std::int64_t step) {
  set_aside_abandoned(step);
  catalogue_.commit(in_flight, step);
  catalogue_.hint_latest(step);
  try {
    ledger_->progress(step);
  } catch (const Error& error) {
    log_warning(error.what());
  }
}

// Checkpoints later than the one this run restarted from, and not its own, are another branch: left in place
// they would be taken for newer. Renamed before the commit, so that at no time an abandoned one stands beside
// ours.
void CheckpointStore::set_aside_abandoned(std::int64_t step) const {
  const std::int64_t newest_kept = restarted_from_ ? *restarted_from_ : step - 1;
  for (const std::int64_t other : catalogue_.committed()) {
    if (other > newest_kept && !own_.contains(other)) catalogue_.put_aside_as_superseded(other);
  }
}

// Rank 0. What cannot be read for this is kept. Returns how many were deleted.
std::int64_t CheckpointStore::apply_retention(int keep) const {
  std::int64_t deleted = 0;
  try {
    RetentionRule rule{keep, catalogue_.pinned(), restarted_from_};
    if (const auto mark = catalogue_.best()) rule.pinned.insert(mark->step);
    std::vector<std::int64_t> steps = catalogue_.committed();
    std::reverse(steps.begin(), steps.end());
    std::vector<KeptCheckpoint> checkpoints;
    int verified = 0;
    for (const std::int64_t step : steps) {
      // Once enough verified ones are found the state of older ones no longer matters, so that they are not
      // parsed.
      const bool counts = verified < keep && is_verified(step);
      verified += counts ? 1 : 0;
      checkpoints.push_back({step, counts});
    }
    for (const std::int64_t step : steps_to_delete(std::move(checkpoints), rule)) {
      catalogue_.remove(step);
      is_verified_.erase(step);
      ++deleted;
    }
  } catch (const Error& error) {
    log_warning(fmt::format("older checkpoints stay: {}", error.what()));
  }
  return deleted;
}

bool CheckpointStore::is_verified(std::int64_t step) const {
  const auto known = is_verified_.find(step);
  if (known != is_verified_.end()) return known->second;
  bool verified = false;
  try {
    verified = read_checkpoint_folder(catalogue_.path_of(step)).manifest().read_back;
  } catch (const Error&) {
    // Damaged or not to be read: it counts for nothing, and the next restart will say why.
    verified = false;
  }
  return is_verified_[step] = verified;
}

}  // namespace charter
