// SPDX-License-Identifier: Apache-2.0
// Supervised fine-tuning as one call: sets up the run folder, model, data and optimizer, fresh or from the
// newest checkpoint, and runs the loop. What the program sft_train does.
#pragma once

#include "modules/comm/session.hpp"
#include "modules/training/training_options.hpp"

namespace charter {

// Collective over the session's world. `set` holds the parsed `options`. Returns done or requeue; throws
// Error on all ranks.
ExitCode run_fine_tuning(Session& session, const OptionSet& set, const TrainingOptions& options);

}  // namespace charter
