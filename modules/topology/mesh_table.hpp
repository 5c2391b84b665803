// SPDX-License-Identifier: Apache-2.0
// The table of ranks that a run prints at start: where each is, and what it is bound to.
#pragma once

#include <string>

#include "modules/topology/mesh.hpp"
#include "modules/topology/node_layout.hpp"

namespace charter {

// Local, pure. The mesh, then which rank is where: one line a rank up to 32 ranks, one line a node beyond,
// and only the first and last nodes of very many. Says how many tensor groups leave their node, because those
// are slow.
std::string mesh_table(const MeshShape& shape, const NodeLayout& layout);

// Local, pure. One line with the cure where a node has more ranks than cores that they may use; else empty.
std::string crowding_warning(const NodeLayout& layout);

}  // namespace charter
