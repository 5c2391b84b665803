// SPDX-License-Identifier: Apache-2.0
// --dry-run: the resolved settings, the memory of every kind of rank and the size of checkpoints, without
// training. The same code as a run executes with counted memory and skipped kernels, so the pool's peak is
// the run's.
#pragma once

#include "modules/topology/mesh_communicators.hpp"
#include "modules/training/training_data.hpp"

namespace charter {

// What the pool of one rank reaches over a whole run (training and evaluation), and its use at the peak.
PoolUse plan_pool(const TrainingOptions& options, const ModelConfig& config, const TrainingData& data,
                  const Mesh& planned_mesh);

// Collective over `world` (one process is enough: --dp and --tp say how many ranks are meant). Prints the
// plan on standard output.
ExitCode plan_fine_tuning(const Communicator& world, const OptionSet& set, const TrainingOptions& options);

}  // namespace charter
