// SPDX-License-Identifier: Apache-2.0
// sft_train: supervised fine-tuning of a language model on any number of ranks, restarting from its
// checkpoints.
#include "apps/support/run_app.hpp"
#include "modules/training/fine_tuning.hpp"

int main(int argc, char** argv) {
  charter::TrainingOptions options;
  charter::OptionSet set(
      "sft_train",
      "Fine-tunes a language model on examples. Start it with mpirun or srun; the same command with the same "
      "--run-dir goes on where it stopped.");
  charter::add_training_options(set, options);
  return charter::run_parallel_program(
      argc, argv, set, [&] { charter::check_training_options(set, options); },
      [&](charter::Session& session) { return charter::run_fine_tuning(session, set, options); },
      charter::Signals::are_taken);
}
