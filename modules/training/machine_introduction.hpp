// SPDX-License-Identifier: Apache-2.0
// What a job runs on: ranks, threads, libraries and rates, said once at the start, and each rank's share of
// memory.
#pragma once

#include <cstdint>

#include "modules/comm/session.hpp"
#include "modules/topology/mesh.hpp"
#include "modules/topology/node_layout.hpp"
#include "modules/training/training_options.hpp"

namespace charter {

// Collective over the session's world. Sets the threads of matrix products, measures their rate, and logs the
// table of ranks, the libraries and the rates; a rank far below the others is named. Returns what this rank's
// device can do, in GFLOP/s: --peak-gflops, or the measured rate.
double introduce_machine(const Session& session, const TrainingOptions& options, const MeshShape& shape,
                         const NodeLayout& layout);

// Local. Bytes that the pool of `rank` may take: --memory-limit, or an even share of what its node, or its
// container there, allows.
std::int64_t pool_limit(const TrainingOptions& options, const NodeLayout& layout, int rank);

}  // namespace charter
