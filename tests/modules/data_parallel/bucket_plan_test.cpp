// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/bucket_plan.hpp"

#include <gtest/gtest.h>

#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

ParameterList tiny_list() {
  return list_parameters(ModelConfig::from_json(testing_support::tiny_llama_config(false), "c"));
}

TEST(BucketPlan, EveryParameterIsInExactlyOneBucketInReverseOrder) {
  const ParameterList list = tiny_list();
  const ParameterLayout layout(list);
  for (const std::int64_t size : {1, 100, 1000, 1 << 20}) {
    std::size_t next = list.specs.size();
    std::int64_t last = layout.size();
    for (const Bucket& bucket : plan_buckets(list, layout, size)) {
      EXPECT_LE(bucket.last, last);
      EXPECT_LT(bucket.first, bucket.last);
      last = bucket.first;
      for (const ParameterId id : bucket.parameters) {
        EXPECT_EQ(index_of(id), --next);
        EXPECT_GE(layout.offset(id), bucket.first);
        EXPECT_LE(layout.offset(id) + list.spec(id).shape.size(), bucket.last);
      }
    }
    EXPECT_EQ(next, 0U);
  }
}

TEST(BucketPlan, FrozenParametersTravelInNoBucket) {
  ParameterList list = tiny_list();
  list.specs[4].frozen = true;
  const ParameterLayout layout(list);
  const auto frozen = layout.offset(static_cast<ParameterId>(4));
  for (const Bucket& bucket : plan_buckets(list, layout, 1 << 20)) {
    EXPECT_TRUE(bucket.last <= frozen || bucket.first > frozen);
    for (const ParameterId id : bucket.parameters) EXPECT_NE(index_of(id), 4U);
  }
}

}  // namespace
}  // namespace charter
