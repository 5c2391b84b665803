// SPDX-License-Identifier: Apache-2.0
// The checkpoints of one run folder: saved, found again, kept or deleted. A checkpoint appears by one rename
// after every block was written, fsynced, read back and compared, so whatever dies whenever, the one before
// stays whole. Parts are written by one process each with the serial HDF5 driver. Precondition: the run lock
// (run_lock.hpp) is held by this job. All HDF5 calls happen on the calling thread. Memory: one staging buffer
// of options.block_bytes on each rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "modules/checkpoint/checkpoint_contents.hpp"
#include "modules/checkpoint/checkpoint_reader.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "modules/checkpoint/restart_ledger.hpp"

namespace charter {

class Communicator;

struct SaveResult {
  bool committed = false;
  bool already_there = false;  // this step had been saved, or was restarted from: nothing was written
  std::string reason;          // why not committed; the same on all ranks; for the caller to log
  int failures_in_a_row = 0;   // 0 after a commit; callers stop with exit code 73 at 3
  std::int64_t bytes = 0;      // tensor data of all ranks
  double seconds = 0;          // on this rank
};

class CheckpointStore {
 public:
  // Collective over `comm`, which must outlive the store. Makes <run_folder>/checkpoints when missing and
  // sweeps what dead jobs left (folders in flight, half-deleted ones). Throws Error(usage) for options out of
  // range, cannot_write.
  CheckpointStore(const Communicator& comm, const std::filesystem::path& run_folder,
                  const CheckpointOptions& options);
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;
  CheckpointStore& operator=(const CheckpointStore&) = delete;

  // Collective. Saves rank 0's `contents` and every rank's `blocks`, which together own each tensor exactly
  // once. A disk that is full, a file that cannot be written or read back right: nothing is committed, the
  // one before is untouched, what was written is removed, and the result says why on all ranks; training may
  // go on. Throws Error(internal) on all ranks when the blocks do not cover their tensors exactly once (a
  // fault of the caller). After a commit the LATEST hint is renewed, retention applied and the restart ledger
  // told of the progress.
  SaveResult save(const CheckpointContents& contents, std::span<const LocalBlock> blocks);

  // Collective. Opens the newest committed checkpoint and hands it to `load`, which reads what it needs.
  // Damage met at opening or while loading puts it aside as .bad (logged, recorded in BAD, never tried again)
  // and goes on with the one before, so `load` may be called several times and must not rely on what an
  // earlier call left. Returns the step; nothing when the folder never held a checkpoint. Throws
  // Error(missing_input) with all reasons when there are some but none is valid: never silently from scratch.
  // `load` must throw on all ranks or on none (together()). Local reads inside `load` are made inside
  // together().
  std::optional<std::int64_t> restore(const std::function<void(const CheckpointReader&)>& load);

  // Collective. As restore, but verifies every block of it first (each rank a share), then returns it open.
  std::optional<CheckpointReader> find_latest();

  // Collective. The checkpoint of one step, verified in full. No other is tried. Restarting from it gives up
  // the later ones: the next commit sets them aside as .superseded. Throws missing_input, DamagedCheckpoint
  // as AgreedError(bad_input).
  CheckpointReader open(std::int64_t step);

  // Collective. Tells the restart ledger that training begins at `step` (nothing: from scratch). Throws
  // Error(internal), exit code 70, at the third restart in a row without a commit in between. end_run: the
  // run ends by its own will.
  void begin_run(std::optional<std::int64_t> step);
  void end_run();

  // Collective. Names a committed step as the best so far; retention keeps it until another is named. Throws
  // cannot_write, internal when the step is not there.
  void mark_best(std::int64_t step, double loss);
  // Collective. The mark, when its checkpoint is still there.
  std::optional<BestMark> best() const;

  // Local. The step committed last, or restarted from; nothing before either.
  std::optional<std::int64_t> newest_step() const;
  // Local. Bytes on disk of a checkpoint with so many bytes of tensors, rounded up; for plans.
  static std::int64_t bytes_on_disk(std::int64_t tensor_bytes);

 private:
  std::optional<CheckpointReader> open_newest(const std::function<void(const CheckpointReader&)>& use);
  std::string next_candidate(std::string& reasons) const;
  void make_room(std::int64_t bytes) const;
  void commit(const std::filesystem::path& in_flight, std::int64_t step);
  void set_aside_abandoned(std::int64_t step) const;
  std::int64_t apply_retention(int keep) const;
  bool is_verified(std::int64_t step) const;
  // How long a save or a load of so many bytes may wait for another rank.
  std::chrono::milliseconds deadline_for(std::int64_t bytes) const;

  const Communicator& comm_;
  CheckpointCatalogue catalogue_;
  CheckpointOptions options_;
  std::unique_ptr<RestartLedger> ledger_;  // rank 0 only
  std::optional<std::int64_t> restarted_from_;
  std::optional<std::int64_t> last_committed_;
  std::set<std::int64_t> own_;                        // committed by this store
  mutable std::map<std::int64_t, bool> is_verified_;  // known so far
  int failures_in_a_row_ = 0;
};

}  // namespace charter
