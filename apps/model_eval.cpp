// SPDX-License-Identifier: Apache-2.0
// model_eval: how well a model predicts documents: loss, perplexity, bits per byte, next-token accuracy, on
// any number of ranks.
#include "apps/support/run_app.hpp"
#include "modules/training/evaluation_run.hpp"

int main(int argc, char** argv) {
  charter::EvaluationOptions options;
  charter::OptionSet set("model_eval",
                         "Measures how well a language model predicts documents. Start it with mpirun or "
                         "srun, or alone; the figures do not depend on the number of ranks.");
  charter::add_evaluation_options(set, options);
  return charter::run_parallel_program(
      argc, argv, set, [&] { charter::check_evaluation_options(set, options); },
      [&](charter::Session& session) { return charter::run_evaluation(session, set, options); });
}
