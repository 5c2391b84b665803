// SPDX-License-Identifier: Apache-2.0
// A tiny model with its optimizer on a mesh of the test's ranks, and its tensors put together again from the
// shards.
#pragma once

#include <string>
#include <vector>

#include "modules/tensor_parallel/mesh_tensor_axis.hpp"
#include "modules/training/step_executor.hpp"
#include "src/model/model_state.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter::test {

// A way to cut a run over ranks.
struct TestMesh {
  MeshDegrees degrees;
  bool cuts_tokens = false;

  std::string name() const;
};

// Every way to write `ranks` as data x tensor degrees that `config` can be cut into, tokens cut and not.
std::vector<TestMesh> legal_meshes(int ranks, const std::string& config);

template <class T>
class MeshModel {
 public:
  // Collective over `world`. Weights as testing_support::randomise draws them, whatever the mesh.
  MeshModel(const Communicator& world, const TestMesh& cut, const std::string& config,
            const OptimizerSettings& settings, Arithmetic arithmetic = Arithmetic::fast)
      : mesh(world, MeshShape(cut.degrees, world.size())),
        queue(pool, arithmetic),
        axis(mesh.tensor(), cut.cuts_tokens),
        model(queue, ModelConfig::from_json(config, "test"), axis),
        optimizer(queue, model.list, settings) {
    testing_support::randomise(queue, model.weights, 21);
  }

  // Collective over the tensor axis. All tensors whole, by parameter, the same on every rank.
  std::vector<std::vector<double>> whole(const ParameterStore<T>& store) {
    std::vector<std::vector<double>> tensors;
    for (std::size_t i = 0; i < model.list.specs.size(); ++i)
      tensors.push_back(whole_tensor(store, static_cast<ParameterId>(i)));
    return tensors;
  }

  Mesh mesh;
  MemoryPool pool{MemoryPool::Mode::run};
  ExecutionQueue queue;
  MeshTensorAxis<T> axis;
  ModelState<T> model;
  Optimizer<T> optimizer;

 private:
  std::vector<double> whole_tensor(const ParameterStore<T>& store, ParameterId id) {
    const Shape& shape = model.list.spec(id).shape;
    const ParameterShard& shard = store.layout().shard(id);
    std::vector<T> held(static_cast<std::size_t>(shard.shape.size()));
    read_elements<T>(queue, store, id, 0, held);
    std::vector<double> whole(static_cast<std::size_t>(shape.size()), 0.0);
    for (std::int64_t element = 0; shard.is_owner() && element < shape.size(); ++element) {
      const std::int64_t at = elements_before(shard, shape, element);
      if (elements_before(shard, shape, element + 1) > at)
        whole[static_cast<std::size_t>(element)] = static_cast<double>(held[static_cast<std::size_t>(at)]);
    }
    mesh.tensor()->all_reduce(whole, ReduceOp::sum);
    return whole;
  }
};

}  // namespace charter::test
