// SPDX-License-Identifier: Apache-2.0
#include "modules/training/run_progress.hpp"

#include <cmath>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace

Json RunProgress::to_json() const {
  return {{"step", step},
          {"applied_steps", applied_steps},
          {"samples", cursor},
          {"input_tokens", input_tokens},
          {"loss_tokens", loss_tokens},
          {"finished", finished},
          {"last_loss", number_or_null(last_loss)},
          {"best_eval_loss", best_eval_loss ? number_or_null(*best_eval_loss) : Json(nullptr)},
          {"evaluation_pending", evaluation_pending},
          {"data_fingerprint", data_fingerprint}};
}

RunProgress RunProgress::from_json(const Json& json, const std::string& where) {
  RunProgress progress;
  try {
    progress.step = json.at("step").get<std::int64_t>();
    progress.applied_steps = json.at("applied_steps").get<std::int64_t>();
    progress.cursor = json.at("samples").get<std::int64_t>();
    progress.input_tokens = json.at("input_tokens").get<std::int64_t>();
    progress.loss_tokens = json.at("loss_tokens").get<std::int64_t>();
    progress.finished = json.at("finished").get<bool>();
    if (!json.at("last_loss").is_null()) progress.last_loss = json.at("last_loss").get<double>();
    if (!json.at("best_eval_loss").is_null())
      progress.best_eval_loss = json.at("best_eval_loss").get<double>();
    progress.evaluation_pending = json.at("evaluation_pending").get<bool>();
    progress.data_fingerprint = json.at("data_fingerprint").get<std::string>();
  } catch (const Json::exception& error) {
    fail(ExitCode::bad_input, fmt::format("{}: the progress of the run is not as this version writes it: {}",
                                          where, error.what()));
  }
  if (progress.step < 0 || progress.applied_steps < 0 || progress.applied_steps > progress.step ||
      progress.cursor < 0) {
    fail(ExitCode::bad_input,
         fmt::format("{}: the progress of the run is impossible: step {}, {} applied, {} samples", where,
                     progress.step, progress.applied_steps, progress.cursor));
  }
  return progress;
}

}  // namespace charter
