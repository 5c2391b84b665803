// SPDX-License-Identifier: Apache-2.0
// An evaluation as one call: losses of documents under a model, on any number of data-parallel ranks. What
// the program model_eval does.
#pragma once

#include "modules/comm/session.hpp"
#include "modules/training/evaluation_options.hpp"

namespace charter {

// Collective over the session's world. `set` holds the parsed `options`. Rank 0 prints the figures on
// standard output and writes the file. Throws Error on all ranks; numerical, after all is written, when a
// loss is not finite.
ExitCode run_evaluation(Session& session, const OptionSet& set, const EvaluationOptions& options);

}  // namespace charter
