// SPDX-License-Identifier: Apache-2.0
// What a job runs on: ranks, threads, libraries and rates, said once at the start, and each rank's share of
// memory.
#pragma once

#include <cstdint>

#include "modules/comm/session.hpp"
#include "modules/topology/mesh.hpp"
#include "modules/topology/node_layout.hpp"
#include "src/options/option_types.hpp"

namespace charter {

// Collective over the session's world. Sets the threads of matrix products, measures their rate, and logs the
// table of ranks, the libraries and the rates; a rank far below the others is named. `threads` 0: the cores
// of the rank. Returns the measured rate of this rank, in GFLOP/s.
double introduce_machine(const Session& session, const MeshShape& shape, const NodeLayout& layout,
                         int threads);

// Local. Bytes that the pool of `rank` may take: `memory_limit`, or where it is 0 an even share of what its
// node, or its container there, allows.
std::int64_t pool_limit(const ByteSize& memory_limit, const NodeLayout& layout, int rank);

}  // namespace charter
