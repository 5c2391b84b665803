// SPDX-License-Identifier: Apache-2.0
// The arithmetic of the mesh over all factorisations of 1 to 64 ranks, without MPI.
#include "modules/topology/mesh.hpp"

#include <functional>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/topology/mesh_communicators.hpp"
#include "src/base/error.hpp"

namespace charter {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void for_each_mesh(int most_ranks, const std::function<void(const MeshShape&)>& check) {
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    for (int pipeline = 1; pipeline <= ranks; ++pipeline) {
      for (int context = 1; pipeline * context <= ranks; ++context) {
        for (int tensor = 1; pipeline * context * tensor <= ranks; ++tensor) {
          if (ranks % (pipeline * context * tensor) == 0)
            check(MeshShape({pipeline, 0, context, tensor}, ranks));
        }
      }
    }
  }
}

std::vector<AxisSet> all_axis_sets() {
  std::vector<AxisSet> sets;
  for (unsigned bits = 0; bits < 16; ++bits) {
    AxisSet set;
    for (const Axis axis : all_axes) {
      if ((bits >> static_cast<unsigned>(axis) & 1U) != 0) set = set | axis;
    }
    sets.push_back(set);
  }
  return sets;
}

TEST(MeshShape, CoordinatesAndRanksAreABijection) {
  int meshes = 0;
  for_each_mesh(64, [&](const MeshShape& shape) {
    ++meshes;
    std::set<int> seen;
    for (int rank = 0; rank < shape.size(); ++rank) {
      const MeshCoordinates at = shape.coordinates_of(rank);
      ASSERT_EQ(shape.rank_of(at), rank);
      for (const Axis axis : all_axes) ASSERT_LT(at.of(axis), shape.degree(axis));
      seen.insert(((at.pipeline * 64 + at.data) * 64 + at.context) * 64 + at.tensor);
    }
    ASSERT_EQ(static_cast<int>(seen.size()), shape.size());
  });
  EXPECT_GT(meshes, 1000);
}

TEST(MeshShape, GroupsOverAnyAxesPartitionTheRanks) {
  const std::vector<AxisSet> sets = all_axis_sets();
  for_each_mesh(24, [&](const MeshShape& shape) {
    for (const AxisSet axes : sets) {
      std::vector<int> members(static_cast<std::size_t>(shape.group_count(axes)), 0);
      for (int rank = 0; rank < shape.size(); ++rank) {
        const std::vector<int> group = shape.group_of(rank, axes);
        ASSERT_EQ(static_cast<int>(group.size()), shape.degree(axes));
        ASSERT_EQ(group[static_cast<std::size_t>(shape.index_in_group(rank, axes))], rank);
        ASSERT_TRUE(std::is_sorted(group.begin(), group.end()));
        ++members.at(static_cast<std::size_t>(shape.group_number(rank, axes)));
        for (const int other : group) {
          for (const Axis axis : all_axes) {
            if (axes.contains(axis)) continue;
            ASSERT_EQ(shape.coordinates_of(other).of(axis), shape.coordinates_of(rank).of(axis));
          }
        }
      }
      for (const int count : members) ASSERT_EQ(count, shape.degree(axes));
    }
  });
}

TEST(MeshShape, TensorIsInnermostAndPipelineOutermost) {
  const MeshShape shape({2, 3, 2, 2}, 24);
  EXPECT_EQ(shape.coordinates_of(0), (MeshCoordinates{0, 0, 0, 0}));
  EXPECT_EQ(shape.coordinates_of(1), (MeshCoordinates{0, 0, 0, 1}));
  EXPECT_EQ(shape.coordinates_of(2), (MeshCoordinates{0, 0, 1, 0}));
  EXPECT_EQ(shape.coordinates_of(4), (MeshCoordinates{0, 1, 0, 0}));
  EXPECT_EQ(shape.coordinates_of(12), (MeshCoordinates{1, 0, 0, 0}));
  EXPECT_THAT(shape.group_of(5, Axis::tensor), ElementsAre(4, 5));
  EXPECT_THAT(shape.group_of(5, Axis::data), ElementsAre(1, 5, 9));
  EXPECT_THAT(shape.group_of(5, AxisSet({Axis::data, Axis::context})), ElementsAre(1, 3, 5, 7, 9, 11));
  EXPECT_EQ(shape.summary(), "pp 2 x dp 3 x cp 2 x tp 2 = 24 ranks");
}

TEST(MeshShape, DataTakesWhatIsLeft) {
  EXPECT_EQ(MeshShape({2, 0, 1, 3}, 12).degree(Axis::data), 2);
  EXPECT_EQ(MeshShape({1, 0, 1, 1}, 7).degree(Axis::data), 7);
  EXPECT_EQ(MeshShape({2, 2, 1, 3}, 12), MeshShape({2, 0, 1, 3}, 12));
  EXPECT_EQ(MeshShape().size(), 1);
}

TEST(MeshShape, OutsideRanksAndCoordinatesAreRefused) {
  const MeshShape shape({1, 2, 1, 2}, 4);
  EXPECT_THROW(shape.coordinates_of(4), Error);
  EXPECT_THROW(shape.coordinates_of(-1), Error);
  EXPECT_THROW(shape.rank_of({0, 2, 0, 0}), Error);
}

TEST(MeshProblems, NoneForALegalMesh) {
  const std::vector<DivisibilityRule> rules = {{"attention heads", 9, Axis::tensor},
                                               {"layers", 30, Axis::pipeline}};
  EXPECT_TRUE(mesh_problems({2, 0, 1, 3}, 12, rules).empty());
}

TEST(MeshProblems, ProductsNameTheLegalOnes) {
  EXPECT_THAT(
      mesh_problems({5, 0, 1, 1}, 12),
      ElementsAre(
          "--pp 5 x --cp 1 x --tp 1 = 5 does not divide the 12 ranks that were started; legal products: "
          "1, 2, 3, 4, 6, 12, or start a multiple of 5 ranks"));
  EXPECT_THAT(mesh_problems({2, 4, 1, 1}, 12), ElementsAre(HasSubstr("legal: --dp 6 (or leave --dp out)")));
  EXPECT_THAT(mesh_problems({1, 0, 1, 24}, 12), ElementsAre(HasSubstr("does not divide")));
  EXPECT_THAT(mesh_problems({2'000'000'000, 0, 2'000'000'000, 2'000'000'000}, 12),
              ElementsAre(HasSubstr("does not divide")));
}

TEST(MeshProblems, AllRulesAreReportedAtOnce) {
  const std::vector<DivisibilityRule> rules = {{"attention heads", 9, Axis::tensor},
                                               {"layers", 30, Axis::pipeline},
                                               {"vocabulary entries", 49152, Axis::tensor}};
  EXPECT_THAT(mesh_problems({7, 0, 1, 2}, 12, rules),
              ElementsAre(HasSubstr("does not divide the 12 ranks"),
                          "9 attention heads cannot be divided by --tp 2; legal: 1, 3, 9",
                          "30 layers cannot be divided by --pp 7; legal: 1, 2, 3, 5, 6, 10, 15, 30"));
  EXPECT_THAT(mesh_problems({0, -1, 1, 2}, 12, rules),
              ElementsAre(HasSubstr("--pp 0 is not a degree"), HasSubstr("--dp -1 is not a degree"),
                          HasSubstr("9 attention heads")));
}

TEST(MeshProblems, RulesOtherThanDivisorsNameTheirLegalDegrees) {
  const std::vector<DivisibilityRule> rules = {
      {"key-value heads", 4, Axis::tensor, DegreeRule::divisor_or_multiple},
      {"features", 5, Axis::tensor, DegreeRule::at_most}};
  for (const int tensor : {1, 2, 4}) EXPECT_TRUE(mesh_problems({1, 0, 1, tensor}, 24, rules).empty());
  EXPECT_THAT(
      mesh_problems({1, 0, 1, 6}, 24, rules),
      ElementsAre("4 key-value heads are neither a multiple nor a divisor of --tp 6; legal: 1, 2, 4 and "
                  "multiples of 4",
                  "5 features are fewer than --tp 6; legal: 1 to 5"));
  EXPECT_THAT(mesh_problems({1, 0, 1, 8}, 24, rules), ElementsAre(HasSubstr("5 features")));
}

TEST(MeshProblems, ADataDegreeLeftOpenIsCheckedToo) {
  const std::vector<DivisibilityRule> rules = {{"shards", 4, Axis::data}};
  EXPECT_THAT(mesh_problems({1, 0, 1, 2}, 12, rules),
              ElementsAre("4 shards cannot be divided by --dp 6; legal: 1, 2, 4"));
}

TEST(MeshShape, AnIllegalMeshThrowsAllProblemsWithExitCode78) {
  try {
    const std::vector<DivisibilityRule> rules = {{"attention heads", 9, Axis::tensor}};
    const MeshShape shape({5, 0, 1, 2}, 12, rules);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("does not divide"), HasSubstr("attention heads")));
  }
}

TEST(Axis, NamesAreThoseOfTheCommandLine) {
  EXPECT_EQ(short_name(Axis::pipeline), "pp");
  EXPECT_EQ(short_name(Axis::context), "cp");
  EXPECT_EQ(AxisSet({Axis::context, Axis::data}).name(), "data x context");
  EXPECT_EQ(AxisSet().name(), "none");
}

TEST(PlannedMesh, AnyRankOfAnyMeshFitsInOneProcess) {
  for_each_mesh(16, [](const MeshShape& shape) {
    for (int rank = 0; rank < shape.size(); ++rank) {
      const Mesh mesh = Mesh::planned(shape, rank);
      const MeshCoordinates at = shape.coordinates_of(rank);
      ASSERT_TRUE(mesh.planned());
      ASSERT_EQ(mesh.coordinates(), at);
      ASSERT_EQ(mesh.world().rank(), rank);
      ASSERT_EQ(mesh.tensor().index(), at.tensor);
      ASSERT_EQ(mesh.tensor().degree(), shape.degree(Axis::tensor));
      ASSERT_EQ(mesh.pipeline().index(), at.pipeline);
      ASSERT_EQ(mesh.context().index(), at.context);
      ASSERT_EQ(mesh.data().degree(), shape.degree(Axis::data));
      ASSERT_EQ(mesh.data_context().rank(), at.data * shape.degree(Axis::context) + at.context);
      ASSERT_EQ(mesh.pipeline_tensor().size(), shape.degree(Axis::pipeline) * shape.degree(Axis::tensor));
    }
  });
  const Mesh mesh = Mesh::planned(MeshShape({4, 0, 2, 8}, 4096), 4095);
  mesh.tensor()->all_reduce({nullptr, 1000, ElementType::f32}, ReduceOp::sum);
  EXPECT_EQ(mesh.tensor().communicator().totals().bytes(), 4000);
}

}  // namespace
}  // namespace charter
