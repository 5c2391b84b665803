// SPDX-License-Identifier: Apache-2.0
#include "modules/data_parallel/leaf_tree.hpp"

#include <algorithm>

#include "src/base/error.hpp"

namespace charter {
namespace {

// The number of positions below `node` that exist in the batch is all that matters: a node whose right child
// lies beyond the end is complete as soon as its left child is.
bool exists(const TreeNode& node, std::int64_t batch) {
  return node.first() < batch;
}

TreeNode parent(const TreeNode& node) {
  return {node.level + 1, node.index >> 1};
}
bool is_left(const TreeNode& node) {
  return (node.index & 1) == 0;
}

}  // namespace

// A node whose right sibling does not exist stands for its parent only in merges_to_root; holders keep it as
// it is, so that what a rank holds never depends on the batch's end except by the positions themselves.
std::vector<TreeNode> canonical_nodes(std::int64_t first, std::int64_t last, std::int64_t batch) {
  LeafStack stack(first, last, batch);
  for (std::int64_t position = first; position < last; ++position) stack.push();
  return stack.nodes();
}

int LeafStack::push() {
  require(next_ < last_ && next_ < batch_, "a leaf position lies in the holder's range");
  nodes_.push_back({0, next_++});
  int merges = 0;
  while (nodes_.size() >= 2) {
    const TreeNode& right = nodes_.back();
    const TreeNode& left = nodes_[nodes_.size() - 2];
    if (left.level != right.level || !is_left(left) || right.index != left.index + 1) break;
    const TreeNode merged = parent(left);
    nodes_.pop_back();
    nodes_.back() = merged;
    ++merges;
  }
  return merges;
}

std::size_t LeafStack::buffers_needed(std::int64_t first, std::int64_t last, std::int64_t batch) {
  LeafStack stack(first, last, batch);
  std::size_t most = 0;
  for (std::int64_t position = first; position < last; ++position) {
    most = std::max(most, stack.depth() + 1);
    stack.push();
  }
  return most;
}

std::vector<TreeMerge> merges_to_root(const std::vector<TreeNode>& held, std::int64_t batch) {
  struct Sum {
    TreeNode node;
    std::size_t place;
  };
  std::vector<Sum> sums;
  for (std::size_t i = 0; i < held.size(); ++i) sums.push_back({held[i], i});
  std::vector<TreeMerge> merges;
  // Level by level: pairs of siblings merge; a left child without an existing sibling stands for its parent.
  for (int level = 0; sums.size() > 1; ++level) {
    require(level < 63, "the held nodes cover the batch");
    std::vector<Sum> next;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i].node.level != level) {
        next.push_back(sums[i]);
        continue;
      }
      const TreeNode node = sums[i].node;
      const TreeNode sibling{node.level, node.index + 1};
      require(is_left(node), "the held nodes cover the batch");
      if (i + 1 < sums.size() && sums[i + 1].node == sibling) {
        merges.push_back({sums[i].place, sums[i + 1].place});
        ++i;
        next.push_back({parent(node), merges.back().into});
      } else {
        require(!exists(sibling, batch), "the held nodes cover the batch");
        next.push_back({parent(node), sums[i].place});
      }
    }
    sums = std::move(next);
  }
  return merges;
}

}  // namespace charter
