// SPDX-License-Identifier: Apache-2.0
// Where backward_weight delivers. A leaf is a range of rows whose gradient is summed in one chain; the sink
// decides what the leaves are and how they are added: in fast mode one leaf is the whole micro-batch and
// lands in the gradient itself; with order-fixed arithmetic each document is a leaf and leaves are added in
// an order that no mesh changes.
#pragma once

#include <cstdint>
#include <vector>

#include "src/model/parameter_spec.hpp"
#include "src/tensor/execution_queue.hpp"

namespace charter {

struct LeafRange {
  std::int64_t first_row = 0;
  std::int64_t num_rows = 0;
};

// A tied tensor gets two gradients, one from each use; with order-fixed arithmetic they are separate sums,
// added last.
enum class GradientPart : std::uint8_t { own, tied_head };

template <class T>
struct GradientTarget {
  DeviceTensor<T> gradient;  // of the parameter's shape
  bool accumulate = false;   // add to what is there; otherwise overwrite all of it
};

template <class T>
class GradientSink {
 public:
  virtual ~GradientSink() = default;
  // Row ranges of the current micro-batch, ascending, covering every row.
  virtual const std::vector<LeafRange>& leaves() const = 0;
  virtual bool wants(ParameterId id) const = 0;  // false for frozen parameters
  virtual GradientTarget<T> open(ParameterId id, GradientPart part, std::size_t leaf) = 0;
  virtual void close(ParameterId id, GradientPart part, std::size_t leaf) = 0;
};

// Calls body(leaf range, target) for every leaf, in order, between open and close.
template <class T, class Body>
void for_each_leaf(GradientSink<T>& sink, ParameterId id, GradientPart part, const Body& body) {
  if (!sink.wants(id)) return;
  for (std::size_t leaf = 0; leaf < sink.leaves().size(); ++leaf) {
    body(sink.leaves()[leaf], sink.open(id, part, leaf));
    sink.close(id, part, leaf);
  }
}

}  // namespace charter
