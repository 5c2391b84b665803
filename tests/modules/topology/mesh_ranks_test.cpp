// SPDX-License-Identifier: Apache-2.0
// The mesh's communicators on every factorisation of the ranks of this run.
#include <functional>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "modules/topology/mesh_communicators.hpp"
#include "modules/topology/mesh_table.hpp"
#include "modules/topology/node_layout.hpp"
#include "src/base/error.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

void for_each_shape(const std::function<void(const MeshShape&)>& check) {
  const int ranks = world().size();
  for (int pipeline = 1; pipeline <= ranks; ++pipeline) {
    for (int context = 1; context <= ranks; ++context) {
      for (int tensor = 1; tensor <= ranks; ++tensor) {
        if (ranks % (pipeline * context * tensor) == 0)
          check(MeshShape({pipeline, 0, context, tensor}, ranks));
      }
    }
  }
}

// The world ranks that `group` really connects.
std::vector<int> members(const Communicator& group) {
  const int mine = world().rank();
  std::vector<int> ranks(static_cast<std::size_t>(group.size()));
  group.all_gather(std::span(&mine, 1), ranks);
  return ranks;
}

TEST(Mesh, EveryCommunicatorConnectsItsGroupInOrder) {
  for_each_shape([](const MeshShape& shape) {
    const Mesh mesh(world(), shape);
    const int rank = world().rank();
    EXPECT_EQ(mesh.rank(), rank);
    EXPECT_EQ(mesh.coordinates(), shape.coordinates_of(rank));
    EXPECT_EQ(members(mesh.pipeline().communicator()), shape.group_of(rank, Axis::pipeline));
    EXPECT_EQ(members(mesh.data().communicator()), shape.group_of(rank, Axis::data));
    EXPECT_EQ(members(mesh.context().communicator()), shape.group_of(rank, Axis::context));
    EXPECT_EQ(members(mesh.tensor().communicator()), shape.group_of(rank, Axis::tensor));
    EXPECT_EQ(members(mesh.data_context()), shape.group_of(rank, {Axis::data, Axis::context}));
    EXPECT_EQ(members(mesh.pipeline_tensor()), shape.group_of(rank, {Axis::pipeline, Axis::tensor}));
    EXPECT_EQ(mesh.world().size(), world().size());
  });
}

TEST(Mesh, IsMovedWithItsCommunicators) {
  Mesh first(world(), MeshShape({}, world().size()));
  const AxisCommunicator<Axis::data> data = first.data();
  const Mesh second = std::move(first);
  EXPECT_EQ(data->all_reduce_value(1, ReduceOp::sum), world().size());
  EXPECT_EQ(second.data().degree(), world().size());
}

TEST(Mesh, AxesAreDifferentTypes) {
  static_assert(!std::is_convertible_v<AxisCommunicator<Axis::data>, AxisCommunicator<Axis::tensor>>);
  static_assert(!std::is_copy_constructible_v<Mesh>);
}

TEST(Mesh, AShapeOfAnotherSizeIsRefused) {
  EXPECT_THROW(Mesh(world(), MeshShape({}, world().size() + 1)), Error);
}

TEST(NodeLayout, RanksOfThisTestShareOneNode) {
  const NodeLayout layout = find_node_layout(world(), fmt::format("device {}", world().rank()));
  EXPECT_EQ(layout.num_nodes(), 1);
  EXPECT_EQ(layout.ranks_on_node.at(0), world().size());
  for (int rank = 0; rank < world().size(); ++rank) {
    EXPECT_EQ(layout.places.at(static_cast<std::size_t>(rank)).local_rank, rank);
    EXPECT_GE(layout.places.at(static_cast<std::size_t>(rank)).threads, 1);
    EXPECT_FALSE(layout.places.at(static_cast<std::size_t>(rank)).cores.empty());
    EXPECT_EQ(layout.places.at(static_cast<std::size_t>(rank)).device, fmt::format("device {}", rank));
    EXPECT_EQ(layout.host_of(rank), layout.hosts.at(0));
  }
  EXPECT_GE(layout.cores_on_node.at(0), 1);
  const std::string table = mesh_table(MeshShape({}, world().size()), layout);
  EXPECT_NE(table.find(layout.hosts.at(0)), std::string::npos);
}

}  // namespace
}  // namespace charter::test
