// SPDX-License-Identifier: Apache-2.0
// A run's folder: made, locked, and its settings compared with those of the earlier start, before anything
// else happens.
#pragma once

#include <optional>

#include "modules/checkpoint/run_lock.hpp"
#include "modules/comm/communicator.hpp"
#include "modules/training/training_options.hpp"

namespace charter {

// Local. Compares the settings with those of an earlier start, `config` (an INI text from `where`). Throws
// configuration with both values of each that may not change and did.
void refuse_changed_settings(const OptionSet& set, const std::string& config, const std::string& where);

// Held by rank 0 for as long as the run lasts.
class RunFolder {
 public:
  // Collective over `world`. Makes the folder and its subfolders, takes the lock, opens log.txt, and writes
  // config.ini. When the folder already has a config.ini and checkpoints, every setting that may not change
  // must be as before. Throws on all ranks: configuration (locked; settings differ, both values named;
  // --resume never with checkpoints there; a rank does not see the folder), cannot_write. `job_token` is a
  // text of this job only.
  RunFolder(const Communicator& world, const OptionSet& set, const TrainingOptions& options,
            const std::string& job_token);

  // Whether there is a checkpoint to go on from.
  bool has_checkpoints() const { return has_checkpoints_; }

 private:
  std::optional<RunLock> lock_;
  bool has_checkpoints_ = false;
};

}  // namespace charter
