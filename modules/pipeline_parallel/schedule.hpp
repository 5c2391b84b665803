// SPDX-License-Identifier: Apache-2.0
// Schedules: which actions a stage runs, in which order. Pure: a function of counts.
#pragma once

#include <vector>

#include "modules/pipeline_parallel/action.hpp"

namespace charter {

// One stage holds the whole model: forward and backward of each micro-batch in turn, so that one
// micro-batch's activations live at a time; then the sum over the data axis and the update. A rank without a
// micro-batch still reduces and updates.
std::vector<Action> single_stage_schedule(std::int64_t num_micro_batches);

}  // namespace charter
