// SPDX-License-Identifier: Apache-2.0
#include "src/options/nearest_name.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace charter {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsSubstitutionsAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("seed", "sede"), 1);
  EXPECT_EQ(edit_distance("ca", "abc"), 3);  // optimal string alignment edits no place twice
  EXPECT_EQ(edit_distance("micro_batch", "micro-batch"), 1);
}

TEST(NearestName, FindsTypingErrorsAndShortenedNames) {
  const std::vector<std::string> names = {"model", "micro-batch", "global-batch", "max-steps", "lr", "seed"};
  EXPECT_EQ(nearest_name("modle", names), "model");
  EXPECT_EQ(nearest_name("micro_batch", names), "micro-batch");
  EXPECT_EQ(nearest_name("max-step", names), "max-steps");
  EXPECT_EQ(nearest_name("global", names), "global-batch");
  EXPECT_EQ(nearest_name("steps", names), "max-steps");
}

TEST(NearestName, SaysNothingWhenNothingIsNear) {
  const std::vector<std::string> names = {"model", "micro-batch", "lr"};
  EXPECT_EQ(nearest_name("quantum-entanglement", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name("x", names), "");
}

}  // namespace
}  // namespace charter
