// SPDX-License-Identifier: Apache-2.0
#include "modules/pipeline_parallel/schedule.hpp"

namespace charter {

std::string_view to_string(ActionKind kind) {
  switch (kind) {
    case ActionKind::forward:
      return "forward";
    case ActionKind::backward:
      return "backward";
    case ActionKind::reduce_gradients:
      return "reduce_gradients";
    case ActionKind::update:
      return "update";
  }
  return "?";
}

std::vector<Action> single_stage_schedule(std::int64_t num_micro_batches) {
  std::vector<Action> actions;
  for (std::int64_t i = 0; i < num_micro_batches; ++i) {
    actions.push_back({ActionKind::forward, i});
    actions.push_back({ActionKind::backward, i});
  }
  actions.push_back({ActionKind::reduce_gradients, 0});
  actions.push_back({ActionKind::update, 0});
  return actions;
}

}  // namespace charter
