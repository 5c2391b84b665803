// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/leaf_tree.hpp"

#include <string>

#include <gtest/gtest.h>

namespace charter {
namespace {

// Sums as texts that show their bracketing: equal texts are equal additions.
std::string tree_of(std::int64_t batch, const std::vector<std::int64_t>& cuts) {
  std::vector<TreeNode> held;
  std::vector<std::string> sums;
  for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) {
    LeafStack stack(cuts[rank], cuts[rank + 1], batch);
    std::vector<std::string> texts;
    for (std::int64_t position = cuts[rank]; position < cuts[rank + 1]; ++position) {
      EXPECT_LT(stack.depth(), LeafStack::buffers_needed(cuts[rank], cuts[rank + 1], batch));
      texts.push_back(std::to_string(position));
      for (int merges = stack.push(); merges > 0; --merges) {
        const std::string top = texts.back();
        texts.pop_back();
        texts.back() = "(" + texts.back() + "+" + top + ")";
      }
      EXPECT_EQ(texts.size(), stack.depth());
    }
    EXPECT_EQ(stack.nodes(), canonical_nodes(cuts[rank], cuts[rank + 1], batch));
    held.insert(held.end(), stack.nodes().begin(), stack.nodes().end());
    sums.insert(sums.end(), texts.begin(), texts.end());
  }
  for (const TreeMerge& merge : merges_to_root(held, batch))
    sums[merge.into] = "(" + sums[merge.into] + "+" + sums[merge.from] + ")";
  return sums.front();
}

TEST(LeafTree, OneHolderOfEightAddsABalancedTree) {
  EXPECT_EQ(tree_of(8, {0, 8}), "(((0+1)+(2+3))+((4+5)+(6+7)))");
}

TEST(LeafTree, MissingLeavesAddNothing) {
  EXPECT_EQ(tree_of(5, {0, 5}), "(((0+1)+(2+3))+4)");
  EXPECT_EQ(tree_of(1, {0, 1}), "0");
  EXPECT_EQ(tree_of(7, {0, 7}), "(((0+1)+(2+3))+((4+5)+6))");
}

TEST(LeafTree, EveryCutOverTwoAndThreeHoldersAddsTheSameTree) {
  for (std::int64_t batch = 1; batch <= 21; ++batch) {
    const std::string expected = tree_of(batch, {0, batch});
    for (std::int64_t a = 0; a <= batch; ++a) {
      EXPECT_EQ(tree_of(batch, {0, a, batch}), expected);
      for (std::int64_t b = a; b <= batch; ++b)
        EXPECT_EQ(tree_of(batch, {0, a, b, batch}), expected) << batch;
    }
  }
}

TEST(LeafTree, NeedsFewBuffers) {
  EXPECT_EQ(LeafStack::buffers_needed(0, 0, 16), 0U);
  EXPECT_EQ(LeafStack::buffers_needed(0, 1024, 1024), 11U);
  for (std::int64_t first = 0; first < 64; ++first) EXPECT_LE(LeafStack::buffers_needed(first, 64, 64), 13U);
}

}  // namespace
}  // namespace charter
