// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/training/mesh_model.hpp"

#include "modules/training/mesh_layout.hpp"

namespace charter::test {

std::vector<MeshDegrees> legal_meshes(int ranks, const std::string& config) {
  const auto rules = tensor_degree_rules(ModelConfig::from_json(config, "test"));
  std::vector<MeshDegrees> meshes;
  for (int tensor = 1; tensor <= ranks; ++tensor) {
    MeshDegrees degrees;
    degrees.tensor = tensor;
    if (mesh_problems(degrees, ranks, rules).empty()) meshes.push_back(degrees);
  }
  return meshes;
}

}  // namespace charter::test
