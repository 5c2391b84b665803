// SPDX-License-Identifier: Apache-2.0
#include "modules/training/training_checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "src/tensor/shape_extents.hpp"

namespace charter {
namespace {

template <class T>
using GroupStore = std::pair<const char*, const ParameterStore<T>*>;

template <class T>
std::vector<GroupStore<T>> groups_of(const ModelState<T>& model, const Optimizer<T>& optimizer) {
  std::vector<GroupStore<T>> groups{{weights_group, &model.weights}};
  if (optimizer.first_moment() != nullptr) {
    groups.emplace_back(moment1_group, optimizer.first_moment());
    groups.emplace_back(moment2_group, optimizer.second_moment());
  }
  return groups;
}

}  // namespace

void require_model_tensors(const CheckpointReader& reader, const ModelConfig& config) {
  std::vector<ExpectedTensor> expected;
  for (const ParameterSpec& spec : list_parameters(config).specs) {
    expected.push_back({weights_group, spec.name, extents_of(spec.shape)});
  }
  reader.require_exactly(expected);
}

template <class T>
std::vector<LocalBlock> owned_blocks(ExecutionQueue& queue, const ModelState<T>& model,
                                     const Optimizer<T>& optimizer, AxisPosition data) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(data.degree), 0);
  std::vector<LocalBlock> blocks;
  for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const ParameterShard shard = model.list.shard(id);
    if (!shard.is_owner()) continue;
    for (const auto& [group, store] : groups_of(model, optimizer)) {
      const auto owner = std::ranges::min_element(load);
      *owner += shard.shape.size();
      if (owner - load.begin() != data.index) continue;
      LocalBlock block;
      block.group = group;
      block.name = model.list.specs[i].name;
      block.global_shape = extents_of(model.list.specs[i].shape);
      block.offset.assign(block.global_shape.size(), 0);
      if (shard.dim != ShardedDim::none) block.offset[static_cast<std::size_t>(shard.dim)] = shard.first;
      block.extent = extents_of(shard.shape);
      block.type = sizeof(T) == sizeof(double) ? DataType::f64 : DataType::f32;
      block.read = [&queue, values = store, id](std::int64_t first, std::span<std::byte> out) {
        read_elements<T>(queue, *values, id, first,
                         {reinterpret_cast<T*>(out.data()), out.size() / sizeof(T)});
      };
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

template <class T>
void load_training_tensors(ExecutionQueue& queue, const Communicator& world, const CheckpointReader& reader,
                           const ModelState<T>& model, const Optimizer<T>& optimizer) {
  std::vector<ExpectedTensor> expected;
  for (const auto& [group, store] : groups_of(model, optimizer)) {
    for (const ParameterSpec& spec : model.list.specs)
      expected.push_back({group, spec.name, extents_of(spec.shape)});
  }
  reader.require_exactly(expected);
  std::vector<T> aligned;
  for (const auto& [group, store] : groups_of(model, optimizer)) {
    for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
      const auto keep = [&, values = store](std::int64_t first, std::span<const std::byte> bytes) {
        aligned.resize(bytes.size() / sizeof(T));
        std::memcpy(aligned.data(), bytes.data(), bytes.size());
        write_elements<T>(queue, *values, static_cast<ParameterId>(i), first, aligned);
      };
      reader.read_replicated(world, group, model.list.specs[i].name, keep);
    }
  }
}

#define CHARTER_INSTANTIATE(T)                                                                          \
  template std::vector<LocalBlock> owned_blocks<T>(ExecutionQueue&, const ModelState<T>&,               \
                                                   const Optimizer<T>&, AxisPosition);                  \
  template void load_training_tensors<T>(ExecutionQueue&, const Communicator&, const CheckpointReader&, \
                                         const ModelState<T>&, const Optimizer<T>&);
CHARTER_INSTANTIATE(float)
CHARTER_INSTANTIATE(double)
#undef CHARTER_INSTANTIATE

}  // namespace charter
