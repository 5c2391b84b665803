// SPDX-License-Identifier: Apache-2.0
// The mesh as a run uses it: a shape, this rank's place, and the communicators of the axes, owned here and
// created in one order on all ranks. Axis communicators are handed out as types: a tensor-parallel layer
// takes AxisCommunicator<Axis::tensor> and nothing else. Collectives of different axes are launched in one
// program order.
#pragma once

#include <string>

#include "modules/comm/communicator.hpp"
#include "modules/topology/mesh.hpp"

namespace charter {

// A view that does not own: valid as long as its Mesh stands at its place (a Mesh may be moved, not
// destroyed).
template <Axis which>
class AxisCommunicator {
 public:
  explicit AxisCommunicator(const Communicator& communicator) : communicator_(&communicator) {}
  static constexpr Axis axis = which;
  int index() const { return communicator_->rank(); }
  int degree() const { return communicator_->size(); }
  const Communicator& communicator() const { return *communicator_; }
  const Communicator* operator->() const { return communicator_; }

 private:
  const Communicator* communicator_;
};

struct MeshState;

class Mesh {
 public:
  // Collective over `world`, whose size is shape.size(). Sizes and places are checked again after each split;
  // an axis of degree 1 costs no communicator of MPI. Throws Error(internal) where a group came out wrong.
  Mesh(const Communicator& world, const MeshShape& shape);
  // Local. The mesh as `rank` would see it, for planning: every collective is counted and skipped.
  static Mesh planned(const MeshShape& shape, int rank);

  ~Mesh();
  Mesh(Mesh&&) noexcept;
  Mesh& operator=(Mesh&&) noexcept;
  Mesh(const Mesh&) = delete;
  Mesh& operator=(const Mesh&) = delete;

  const MeshShape& shape() const;
  int rank() const;
  const MeshCoordinates& coordinates() const;
  bool planned() const;

  // All ranks of the mesh. Agreement, control traffic, loss denominators over all stages.
  const Communicator& world() const;
  AxisCommunicator<Axis::pipeline> pipeline() const;
  AxisCommunicator<Axis::data> data() const;
  AxisCommunicator<Axis::context> context() const;
  AxisCommunicator<Axis::tensor> tensor() const;
  // data x context: ranks that hold the same parameters and see different tokens. Sums of losses and of
  // gradients.
  const Communicator& data_context() const;
  // pipeline x tensor: ranks that together hold one copy of the model. The global norm, partials by owner.
  const Communicator& pipeline_tensor() const;

 private:
  explicit Mesh(std::unique_ptr<MeshState> state);
  std::unique_ptr<MeshState> state_;
};

}  // namespace charter
