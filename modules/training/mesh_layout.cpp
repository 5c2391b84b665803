// SPDX-License-Identifier: Apache-2.0
#include "modules/training/mesh_layout.hpp"

#include "modules/comm/agreement.hpp"

namespace charter {

std::vector<DivisibilityRule> tensor_degree_rules(const ModelConfig& config) {
  return {{"attention heads", config.query_heads, Axis::tensor, DegreeRule::divisor},
          {"key-value heads", config.kv_heads, Axis::tensor, DegreeRule::divisor_or_multiple},
          {"feed-forward features", config.ffn, Axis::tensor, DegreeRule::at_most},
          {"vocabulary entries", config.vocabulary, Axis::tensor, DegreeRule::at_most}};
}

MeshShape lay_out_mesh(const Communicator& world, const MeshDegrees& degrees,
                       const std::function<std::string()>& config_json) {
  const std::string json =
      agree_on_text(world, "laying out the mesh", [&] { return degrees.tensor > 1 ? config_json() : ""; });
  return together(world, "laying out the mesh", [&] {
    if (json.empty()) return MeshShape(degrees, world.size());
    return MeshShape(degrees, world.size(), tensor_degree_rules(ModelConfig::from_json(json, "config.json")));
  });
}

MeshShape planned_mesh(MeshDegrees degrees, int world_size, const ModelConfig& config) {
  const int cut = degrees.tensor;
  if (degrees.data == 0 && world_size < cut) degrees.data = 1;
  const int ranks = degrees.data > 0 ? degrees.data * cut : world_size;
  return {degrees, ranks, tensor_degree_rules(config)};
}

}  // namespace charter
