// SPDX-License-Identifier: Apache-2.0
// The training state as checkpoint tensors: which rank gives which tensor, and the way back.
#pragma once

#include <vector>

#include "modules/checkpoint/checkpoint_reader.hpp"
#include "modules/checkpoint/local_block.hpp"
#include "modules/training/optimizer.hpp"
#include "src/model/model_state.hpp"

namespace charter {

// Local. What this rank gives of its shards, which the ranks of the data axis hold equally (`data` is the
// place on it): dealt out by size, the largest share as small as the order of parameters allows. Copies on
// the tensor axis give nothing. Reads happen while saving; the arguments must live until then.
template <class T>
std::vector<LocalBlock> owned_blocks(ExecutionQueue& queue, const ModelState<T>& model,
                                     const Optimizer<T>& optimizer, AxisPosition data);

// Local. Throws bad_input unless the checkpoint's weights have the names and shapes of this model: to be
// asked before anything of config.json's sizes is allocated.
void require_model_tensors(const CheckpointReader& reader, const ModelConfig& config);

// Collective over `world`. Fills each rank's shards of weights and moments; every byte is read once and
// broadcast. Throws bad_input when the checkpoint's tensors are not exactly this model's and optimizer's,
// DamagedCheckpoint.
template <class T>
void load_training_tensors(ExecutionQueue& queue, const Communicator& world, const CheckpointReader& reader,
                           const ModelState<T>& model, const Optimizer<T>& optimizer);

}  // namespace charter
