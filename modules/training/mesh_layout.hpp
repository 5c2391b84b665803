// SPDX-License-Identifier: Apache-2.0
// From the degrees of a command line to the mesh of a run: the product must be the ranks, and what a model
// can be cut into is known from its config.json alone.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "modules/topology/mesh.hpp"
#include "src/model/model_config.hpp"

namespace charter {

// What the tensor degree has to divide, or may be at most: heads, key-value heads, features, vocabulary.
std::vector<DivisibilityRule> tensor_degree_rules(const ModelConfig& config);

// Collective over `world`. `config_json` is asked on rank 0, and only where the model is cut. Throws
// Error(configuration) with every rule that is broken, and what `config_json` throws.
MeshShape lay_out_mesh(const Communicator& world, const MeshDegrees& degrees,
                       const std::function<std::string()>& config_json);

// Local. The mesh that is meant by one process that plans: with the data degree left open, the degrees' own
// product.
MeshShape planned_mesh(MeshDegrees degrees, int world_size, const ModelConfig& config);

}  // namespace charter
