// SPDX-License-Identifier: Apache-2.0
// A training step as data: the list of what a stage does, in order. Pure functions make such lists
// (schedule.hpp), the executor in modules/training runs them, tests and planners read them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace charter {

enum class ActionKind : std::uint8_t {
  forward,           // of one micro-batch through the stage's layers
  backward,          // both halves: input and weight gradients
  reduce_gradients,  // the sum over the data axis is complete afterwards
  update,            // norm, clipping, optimizer
};

struct Action {
  ActionKind kind = ActionKind::forward;
  std::int64_t micro_batch = 0;  // index among this rank's; forward and backward only
  bool operator==(const Action&) const = default;
};

std::string_view to_string(ActionKind kind);

}  // namespace charter
