// SPDX-License-Identifier: Apache-2.0
// The fixed order in which the gradients of a global batch are added with order-fixed arithmetic: a binary
// tree over the positions 0 .. batch - 1, whoever holds them. A node (level, index) is the sum over the
// positions [index * 2^level, (index + 1) * 2^level) that exist; a missing right child adds nothing. Pure
// arithmetic: no memory, no rank.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace charter {

struct TreeNode {
  int level = 0;
  std::int64_t index = 0;
  bool operator==(const TreeNode&) const = default;

  std::int64_t first() const { return index << level; }
};

// The largest nodes that make up the positions [first, last), in order. At most 2 log2(last) + 1. A node that
// is cut short by the end of the batch counts as whole.
std::vector<TreeNode> canonical_nodes(std::int64_t first, std::int64_t last, std::int64_t batch);

// The sums one holder of [first, last) keeps while its leaves arrive in order: a stack of nodes. push() says
// how many times the two topmost sums are to be added after the leaf was put on top.
class LeafStack {
 public:
  LeafStack(std::int64_t first, std::int64_t last, std::int64_t batch)
      : next_(first), last_(last), batch_(batch) {}

  std::size_t depth() const { return nodes_.size(); }
  // The leaf at the next position goes to stack place depth(). Returns the number of merges: each adds the
  // top into the place below it.
  int push();
  const std::vector<TreeNode>& nodes() const { return nodes_; }

  // The largest depth (leaf on top included) that the whole range needs: the number of buffers.
  static std::size_t buffers_needed(std::int64_t first, std::int64_t last, std::int64_t batch);

 private:
  std::int64_t next_;
  std::int64_t last_;
  std::int64_t batch_;
  std::vector<TreeNode> nodes_;
};

// How held nodes combine to the root: steps in order, each adding sum `from` into sum `into` (positions in
// `held`, which is ordered by first position and covers the batch). The result is sum 0.
struct TreeMerge {
  std::size_t into = 0;
  std::size_t from = 0;
};
std::vector<TreeMerge> merges_to_root(const std::vector<TreeNode>& held, std::int64_t batch);

}  // namespace charter
