// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/checkpoint/small_checkpoint.hpp"

#include <cstring>
#include <string_view>

#include "modules/checkpoint/block_geometry.hpp"
#include "modules/checkpoint/model_folder.hpp"
#include "modules/comm/communicator.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

// The half [first, end) of dim `dim` as a block that reads from `tensor`.
LocalBlock block_of(const NamedValues& tensor, std::size_t dim, std::int64_t first, std::int64_t end) {
  LocalBlock block;
  block.group = tensor.group;
  block.name = tensor.name;
  block.global_shape = tensor.shape;
  block.offset.assign(tensor.shape.size(), 0);
  block.extent = tensor.shape;
  block.offset[dim] = first;
  block.extent[dim] = end - first;
  std::vector<float> own;
  for_each_run(tensor.shape, {block.offset, block.extent},
               [&](std::int64_t in_tensor, std::int64_t, std::int64_t count) {
                 own.insert(own.end(), tensor.values.begin() + in_tensor,
                            tensor.values.begin() + in_tensor + count);
               });
  block.read = [own](std::int64_t first_element, std::span<std::byte> out) {
    std::memcpy(out.data(), own.data() + first_element, out.size());
  };
  return block;
}

}  // namespace

void write_small_checkpoint(const std::filesystem::path& folder, const std::vector<NamedValues>& tensors,
                            const CheckpointContents& contents, bool columns) {
  std::vector<LocalBlock> blocks;
  for (const NamedValues& tensor : tensors) {
    const std::size_t dim = columns ? tensor.shape.size() - 1 : 0;
    const std::int64_t extent = tensor.shape[dim];
    blocks.push_back(block_of(tensor, dim, 0, extent / 2));
    blocks.push_back(block_of(tensor, dim, extent / 2, extent));
  }
  CheckpointOptions options;
  options.writers = 2;
  options.block_bytes = 64;
  write_model_folder(Communicator::self("test"), folder, contents, blocks, options);
}

std::int64_t place_of(const std::filesystem::path& file, float value) {
  const std::size_t at =
      read_bytes(file).find(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  return at == std::string::npos ? -1 : static_cast<std::int64_t>(at);
}

}  // namespace charter::test
