// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/mesh_communicators.hpp"

#include <optional>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

struct MeshState {
  MeshShape shape;
  int rank = 0;
  MeshCoordinates coordinates;
  // In the order of their making; destroyed in the opposite one.
  std::optional<Communicator> world;
  std::optional<Communicator> pipeline;
  std::optional<Communicator> data;
  std::optional<Communicator> context;
  std::optional<Communicator> tensor;
  std::optional<Communicator> data_context;
  std::optional<Communicator> pipeline_tensor;
};

namespace {

// One group of the mesh. Colour and key are the pure arithmetic; what MPI made of them is checked again.
Communicator make_group(const Communicator& world, const MeshShape& shape, AxisSet axes,
                        const std::string& name) {
  const int rank = world.rank();
  const int degree = shape.degree(axes);
  const int index = shape.index_in_group(rank, axes);
  if (world.planned()) return Communicator::self_planned(index, degree, name);
  // All ranks know that this group has one member: no need to ask MPI.
  if (degree == 1) return world.alone(name);
  Communicator group = world.split(shape.group_number(rank, axes), index, name);
  require(group.size() == degree && group.rank() == index,
          fmt::format("the group over {} has {} ranks and this is its number {}, not {} and {}", axes.name(),
                      degree, index, group.size(), group.rank()));
  return group;
}

std::unique_ptr<MeshState> make_state(Communicator world, const MeshShape& shape) {
  require(world.size() == shape.size(), "a mesh has as many places as its world has ranks");
  auto state = std::make_unique<MeshState>();
  state->shape = shape;
  state->rank = world.rank();
  state->coordinates = shape.coordinates_of(world.rank());
  state->world.emplace(std::move(world));
  const Communicator& all = *state->world;
  state->pipeline.emplace(make_group(all, shape, Axis::pipeline, "pipeline"));
  state->data.emplace(make_group(all, shape, Axis::data, "data"));
  state->context.emplace(make_group(all, shape, Axis::context, "context"));
  state->tensor.emplace(make_group(all, shape, Axis::tensor, "tensor"));
  state->data_context.emplace(make_group(all, shape, {Axis::data, Axis::context}, "data_context"));
  state->pipeline_tensor.emplace(make_group(all, shape, {Axis::pipeline, Axis::tensor}, "pipeline_tensor"));
  return state;
}

}  // namespace

Mesh::Mesh(const Communicator& world, const MeshShape& shape)
    : state_(make_state(world.duplicate("mesh"), shape)) {}
Mesh::Mesh(std::unique_ptr<MeshState> state) : state_(std::move(state)) {}

Mesh Mesh::planned(const MeshShape& shape, int rank) {
  return Mesh(make_state(Communicator::self_planned(rank, shape.size(), "mesh"), shape));
}

Mesh::~Mesh() = default;
Mesh::Mesh(Mesh&&) noexcept = default;
Mesh& Mesh::operator=(Mesh&&) noexcept = default;

const MeshShape& Mesh::shape() const {
  return state_->shape;
}
int Mesh::rank() const {
  return state_->rank;
}
const MeshCoordinates& Mesh::coordinates() const {
  return state_->coordinates;
}
bool Mesh::planned() const {
  return state_->world->planned();
}
const Communicator& Mesh::world() const {
  return *state_->world;
}
AxisCommunicator<Axis::pipeline> Mesh::pipeline() const {
  return AxisCommunicator<Axis::pipeline>(*state_->pipeline);
}
AxisCommunicator<Axis::data> Mesh::data() const {
  return AxisCommunicator<Axis::data>(*state_->data);
}
AxisCommunicator<Axis::context> Mesh::context() const {
  return AxisCommunicator<Axis::context>(*state_->context);
}
AxisCommunicator<Axis::tensor> Mesh::tensor() const {
  return AxisCommunicator<Axis::tensor>(*state_->tensor);
}
const Communicator& Mesh::data_context() const {
  return *state_->data_context;
}
const Communicator& Mesh::pipeline_tensor() const {
  return *state_->pipeline_tensor;
}

}  // namespace charter
