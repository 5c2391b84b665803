// SPDX-License-Identifier: Apache-2.0
// checkpoint_tool: looks after checkpoints: lists, shows, verifies, compares, deletes. One process, no
// device.
#include "apps/support/checkpoint_commands.hpp"
#include "apps/support/run_app.hpp"

int main(int argc, char** argv) {
  charter::CheckpointToolOptions options;
  charter::CommandSet set("checkpoint_tool", "Looks after the checkpoints of runs and models.");
  charter::add_checkpoint_commands(set, options);
  return charter::run_commands(argc, argv, set, charter::checkpoint_programs(options));
}
