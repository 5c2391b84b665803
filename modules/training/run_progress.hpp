// SPDX-License-Identifier: Apache-2.0
// How far a run is: all that a restart needs besides tensors. Nothing in it depends on the mesh.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "src/base/json.hpp"

namespace charter {

struct RunProgress {
  std::int64_t step = 0;           // optimizer steps done, skipped ones included
  std::int64_t applied_steps = 0;  // of them, those that changed the weights
  std::int64_t cursor = 0;         // training samples consumed: the data's position (dataset/data_order.hpp)
  std::int64_t input_tokens = 0;   // consumed
  std::int64_t loss_tokens = 0;
  bool finished = false;  // reached the end that was asked for
  double last_loss = std::numeric_limits<double>::quiet_NaN();
  std::optional<double> best_eval_loss;  // of saved checkpoints
  bool evaluation_pending = false;       // it was due at this step, but the job had to stop
  std::string data_fingerprint;          // of all tokenised samples (dataset/sample_store.hpp)

  Json to_json() const;
  // Throws bad_input starting with `where`.
  static RunProgress from_json(const Json& json, const std::string& where);
};

}  // namespace charter
