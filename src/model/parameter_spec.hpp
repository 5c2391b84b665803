// SPDX-License-Identifier: Apache-2.0
// What is known of a parameter before any memory exists: its logical (global) shape and everything that
// initialisation, sharding, the norm, checkpoints, conversion and weight decay derive from. The list of
// specs, in order, is the model's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/tensor/tensor.hpp"

namespace charter {

// Index into the model's list of specs.
enum class ParameterId : std::int32_t {};
inline std::size_t index_of(ParameterId id) {
  return static_cast<std::size_t>(id);
}

enum class InitialLaw : std::uint8_t { zeros, ones, normal };

// The dim of the global shape that the tensor axis cuts; `none` is replicated over the axis.
enum class ShardedDim : std::int8_t { none = -1, rows = 0, columns = 1 };

// How the tensor axis cuts a parameter: between `units` pieces of equal extent along `dim`, heads, features
// or rows of the vocabulary, none of which is cut itself (tensor_shard.hpp).
struct TensorCut {
  ShardedDim dim = ShardedDim::none;
  std::int64_t units = 1;
};

// Which stage of a pipeline holds the parameter.
struct ParameterPlace {
  enum class Part : std::uint8_t { embedding, layer, head };
  Part part = Part::layer;
  std::int32_t layer = 0;  // global index, when part == layer
};

struct ParameterSpec {
  std::string name;  // canonical: Hugging Face Llama names for every architecture
  Shape shape;       // global; matrices are [out, in]
  TensorCut tensor_cut;
  InitialLaw law = InitialLaw::normal;
  double deviation = 0.02;   // of the normal law, from global sizes
  bool weight_decay = true;  // matrices yes; norms and biases no
  bool frozen = false;
  // Tied weights: one logical tensor used by the embedding and by the head. The embedding's place owns it
  // (norm, checkpoint); the head's use is a second gradient part.
  bool tied_to_head = false;
  ParameterPlace place;
};

}  // namespace charter
