// SPDX-License-Identifier: Apache-2.0
#include "src/model/tensor_shard.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "src/model/parameter_loading.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

TEST(HeldUnits, CoverAllUnitsOnceWithoutPadding) {
  for (const std::int64_t units : {1, 2, 7, 19, 49152}) {
    for (std::int64_t degree = 1; degree <= std::min<std::int64_t>(units, 9); ++degree) {
      std::int64_t next = 0;
      for (std::int64_t index = 0; index < degree; ++index) {
        const HeldUnits held = held_units(units, {degree, index});
        EXPECT_EQ(held.first, next);
        EXPECT_TRUE(held.count == units / degree || held.count == (units + degree - 1) / degree);
        EXPECT_EQ(held.copies, 1);
        next += held.count;
      }
      EXPECT_EQ(next, units);
    }
  }
}

// A degree's cuts are among those of its multiples, so that what several ranks hold is what fewer hold
// together.
TEST(HeldUnits, CutsOfADegreeAreCutsOfItsMultiples) {
  for (std::int64_t index = 0; index < 3; ++index)
    EXPECT_EQ(held_units(19, {3, index}).first, held_units(19, {12, 4 * index}).first);
}

TEST(HeldUnits, FewerUnitsThanRanksAreHeldInCopiesSideBySide) {
  for (std::int64_t index = 0; index < 8; ++index) {
    const HeldUnits held = held_units(2, {8, index});
    EXPECT_EQ(held.first, index / 4);
    EXPECT_EQ(held.count, 1);
    EXPECT_EQ(held.copies, 4);
    EXPECT_EQ(held.copy, index % 4);
  }
  EXPECT_THROW(held_units(3, {4, 0}), Error);
}

class TensorShard : public testing::Test {
 protected:
  static ParameterSpec spec(Shape shape, ShardedDim dim, std::int64_t units) {
    ParameterSpec spec;
    spec.name = "test";
    spec.shape = shape;
    spec.tensor_cut = {dim, units};
    return spec;
  }
};

TEST_F(TensorShard, HeldElementsOfEveryRunStandTogetherInTheShard) {
  for (const ParameterSpec& one : {spec({6, 5}, ShardedDim::none, 1), spec({6, 5}, ShardedDim::rows, 3),
                                   spec({6, 5}, ShardedDim::columns, 5), spec({6}, ShardedDim::rows, 6)}) {
    for (std::int64_t index = 0; index < 3; ++index) {
      const ParameterShard shard = shard_of(one, {3, index});
      const std::int64_t width = one.shape.rank() == 1 ? 1 : one.shape[1];
      std::int64_t before = 0;
      for (std::int64_t element = 0; element < one.shape.size(); ++element) {
        EXPECT_EQ(elements_before(shard, one.shape, element), before);
        const std::int64_t at = shard.dim == ShardedDim::columns ? element % width : element / width;
        const std::int64_t extent = shard.dim == ShardedDim::columns ? shard.shape[1] : shard.shape[0];
        if (shard.dim == ShardedDim::none || (at >= shard.first && at < shard.first + extent)) ++before;
      }
      EXPECT_EQ(before, shard.shape.size());
    }
  }
}

TEST_F(TensorShard, WhatIsNotCutHasOneOwner) {
  EXPECT_TRUE(shard_of(spec({6}, ShardedDim::none, 1), {3, 0}).is_owner());
  EXPECT_FALSE(shard_of(spec({6}, ShardedDim::none, 1), {3, 2}).is_owner());
  EXPECT_FALSE(shard_of(spec({8, 2}, ShardedDim::rows, 2), {4, 1}).is_owner());
  EXPECT_TRUE(shard_of(spec({8, 2}, ShardedDim::rows, 2), {4, 2}).is_owner());
}

// Pieces that begin and end anywhere, as blocks of checkpoints do, reach their places in every shard.
TEST_F(TensorShard, RunsOfTheWholeAreKeptWhereTheyBelong) {
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const ModelConfig config = ModelConfig::from_json(testing_support::tiny_heads_config(8, 2), "test");
  for (std::int64_t index = 0; index < 4; ++index) {
    const ParameterList list = list_parameters(config, {4, index});
    const ParameterStore<float> store(queue, list, MemoryCategory::parameters, "test");
    for (std::size_t i = 0; i < list.specs.size(); ++i) {
      const auto id = static_cast<ParameterId>(i);
      const Shape& whole = list.spec(id).shape;
      for (std::int64_t first = 0; first < whole.size(); first += 7) {
        std::vector<float> run;
        for (std::int64_t at = first; at < std::min(first + 7, whole.size()); ++at)
          run.push_back(static_cast<float>(at));
        write_elements<float>(queue, store, id, first, run);
      }
      const ParameterShard& shard = store.layout().shard(id);
      std::vector<float> held(static_cast<std::size_t>(shard.shape.size()));
      read_elements<float>(queue, store, id, 0, std::span(held));
      for (std::int64_t at = 0; at < whole.size(); ++at) {
        const std::int64_t place = elements_before(shard, whole, at);
        if (elements_before(shard, whole, at + 1) == place) continue;
        EXPECT_EQ(held[static_cast<std::size_t>(place)], static_cast<float>(at)) << list.spec(id).name;
      }
    }
  }
}

}  // namespace
}  // namespace charter
