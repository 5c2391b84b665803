// SPDX-License-Identifier: Apache-2.0
// The table of ranks that a run prints at start.
#pragma once

#include <string>

#include "modules/topology/mesh.hpp"
#include "modules/topology/node_layout.hpp"

namespace charter {

// Local, pure. The mesh, then which rank is where: one line a rank up to 32 ranks, one line a node beyond,
// and only the first and last nodes of very many. Says how many tensor groups leave their node, because those
// are slow.
std::string mesh_table(const MeshShape& shape, const NodeLayout& layout);

}  // namespace charter
