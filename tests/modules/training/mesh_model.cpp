// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/training/mesh_model.hpp"

#include <fmt/format.h>

#include "modules/training/mesh_layout.hpp"

namespace charter::test {

std::string TestMesh::name() const {
  return fmt::format("tp {}{}", degrees.tensor, cuts_tokens ? ", sequence parallel" : "");
}

std::vector<TestMesh> legal_meshes(int ranks, const std::string& config) {
  const auto rules = tensor_degree_rules(ModelConfig::from_json(config, "test"));
  std::vector<TestMesh> meshes;
  for (int tensor = 1; tensor <= ranks; ++tensor) {
    MeshDegrees degrees;
    degrees.tensor = tensor;
    if (!mesh_problems(degrees, ranks, rules).empty()) continue;
    meshes.push_back({degrees, false});
    if (tensor > 1) meshes.push_back({degrees, true});
  }
  return meshes;
}

}  // namespace charter::test
