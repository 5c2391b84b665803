// SPDX-License-Identifier: Apache-2.0
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>

#include "modules/checkpoint/block_geometry.hpp"
#include "modules/checkpoint/manifest_seal.hpp"

namespace charter::test {
namespace {

constexpr double step_of_values = 0.5;

std::int64_t volume(const std::vector<std::int64_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Share `rank` of `ranks` of [0, size).
std::pair<std::int64_t, std::int64_t> share(std::int64_t size, int rank, int ranks) {
  const std::int64_t first = size * rank / ranks;
  return {first, size * (rank + 1) / ranks - first};
}

std::vector<Rectangle> owned_places(const TestTensor& tensor, std::size_t number, int rank, int ranks,
                                    Cut cut) {
  const std::vector<std::int64_t>& shape = tensor.shape;
  Rectangle whole{std::vector<std::int64_t>(shape.size(), 0), shape};
  const std::size_t last = shape.empty() ? 0 : shape.size() - 1;
  if (cut == Cut::flat_ranges) {
    const auto [first, count] = share(volume(shape), rank, ranks);
    return rectangles_of_range(shape, first, count);
  }
  if (cut == Cut::whole_tensors || shape.empty()) {
    if (static_cast<int>(number % static_cast<std::size_t>(ranks)) != rank) return {};
    return {whole};
  }
  const std::size_t dim = cut == Cut::rows ? 0 : last;
  std::tie(whole.offset[dim], whole.extent[dim]) = share(shape[dim], rank, ranks);
  return {whole};
}

template <class Value>
void fill(const TestTensor& tensor, const Rectangle& place, int salt, std::int64_t first,
          std::span<std::byte> out) {
  const std::span values(reinterpret_cast<Value*>(out.data()), out.size() / sizeof(Value));
  const double start = value_at(tensor, 0, salt);
  for_each_run(tensor.shape, place, [&](std::int64_t in_tensor, std::int64_t in_place, std::int64_t count) {
    const std::int64_t begin = std::max<std::int64_t>(0, first - in_place);
    const std::int64_t end = std::min(count, first + std::ssize(values) - in_place);
    for (std::int64_t i = begin; i < end; ++i) {
      values[static_cast<std::size_t>(in_place + i - first)] =
          static_cast<Value>(start + step_of_values * static_cast<double>(in_tensor + i));
    }
  });
}

template <class Value>
std::vector<Value> formula(const TestTensor& tensor, int salt) {
  std::vector<Value> values(static_cast<std::size_t>(volume(tensor.shape)));
  fill<Value>(tensor, {std::vector<std::int64_t>(tensor.shape.size(), 0), tensor.shape}, salt, 0,
              std::as_writable_bytes(std::span(values)));
  return values;
}

template <class Value>
void expect_tensor(const CheckpointReader& reader, const Communicator& ranks, const TestTensor& tensor,
                   int salt) {
  const std::vector<Value> expected = formula<Value>(tensor, salt);
  std::vector<Value> values(expected.size(), Value{-1});
  reader.read_replicated(ranks, tensor.group, tensor.name,
                         [&](std::int64_t first, std::span<const std::byte> bytes) {
                           std::memcpy(values.data() + first, bytes.data(), bytes.size());
                         });
  EXPECT_EQ(values, expected) << tensor.group << "/" << tensor.name << " read whole";

  std::fill(values.begin(), values.end(), Value{-1});
  const std::int64_t half = std::ssize(values) / 2;
  const std::span out(values);
  reader.read_range(tensor.group, tensor.name, half,
                    std::as_writable_bytes(out.subspan(static_cast<std::size_t>(half))));
  reader.read_range(tensor.group, tensor.name, 0,
                    std::as_writable_bytes(out.first(static_cast<std::size_t>(half))));
  EXPECT_EQ(values, expected) << tensor.group << "/" << tensor.name << " read by ranges";

  for (const Cut cut : {Cut::rows, Cut::columns}) {
    for (int part = 0; part < 3; ++part) {
      for (const Rectangle& place : owned_places(tensor, 0, part, 3, cut)) {
        std::vector<Value> shard(static_cast<std::size_t>(place.volume()));
        std::vector<Value> wanted(shard.size());
        reader.read_block(tensor.group, tensor.name, place.offset, place.extent,
                          std::as_writable_bytes(std::span(shard)));
        fill<Value>(tensor, place, salt, 0, std::as_writable_bytes(std::span(wanted)));
        EXPECT_EQ(shard, wanted) << tensor.group << "/" << tensor.name << " read by shards";
      }
    }
  }
}

}  // namespace

std::vector<TestTensor> small_state() {
  std::vector<TestTensor> state;
  for (const char* group : {weights_group, moment1_group, moment2_group}) {
    state.push_back({group, "model.embed_tokens.weight", {37, 12}, DataType::f32});
    state.push_back({group, "model.layers.0.mlp.up_proj.weight", {20, 33}, DataType::f32});
    state.push_back({group, "model.layers.0.input_layernorm.weight", {12}, DataType::f32});
    state.push_back({group, "three.dims", {3, 5, 7}, DataType::f32});
    state.push_back({group, "a.scalar", {}, DataType::f32});
  }
  state.push_back({"master", "wide.values", {11, 13}, DataType::f64});
  return state;
}

double value_at(const TestTensor& tensor, std::int64_t index, int salt) {
  const auto name = static_cast<double>(std::hash<std::string>()(tensor.group + tensor.name) % 1000);
  return name + 0.125 * salt + step_of_values * static_cast<double>(index);
}

std::vector<LocalBlock> owned_blocks(const std::vector<TestTensor>& state, int rank, int ranks, Cut cut,
                                     int salt) {
  std::vector<LocalBlock> blocks;
  for (std::size_t number = 0; number < state.size(); ++number) {
    const TestTensor& tensor = state[number];
    for (const Rectangle& place : owned_places(tensor, number, rank, ranks, cut)) {
      LocalBlock block{tensor.group, tensor.name, tensor.shape, place.offset,
                       place.extent, tensor.type, nullptr};
      block.read = [tensor, place, salt](std::int64_t first, std::span<std::byte> out) {
        if (tensor.type == DataType::f32) {
          fill<float>(tensor, place, salt, first, out);
        } else {
          fill<double>(tensor, place, salt, first, out);
        }
      };
      blocks.push_back(std::move(block));
    }
  }
  return blocks;
}

CheckpointContents small_contents(std::int64_t step) {
  CheckpointContents contents;
  contents.step = step;
  contents.loss = 2.5;
  contents.training_state = {{"samples", 16 * step}, {"learning_rate", 1e-3 / 3}, {"seed", 7}};
  contents.files = {{"config.json", "{\"model_type\": \"llama\"}\n"}, {"tokenizer.json", "{\"model\": {}}"}};
  return contents;
}

void expect_state(const CheckpointReader& reader, const Communicator& ranks,
                  const std::vector<TestTensor>& state, int salt) {
  for (const TestTensor& tensor : state) {
    if (tensor.type == DataType::f32) {
      expect_tensor<float>(reader, ranks, tensor, salt);
    } else {
      expect_tensor<double>(reader, ranks, tensor, salt);
    }
  }
}

CheckpointOptions small_options(int writers, int keep) {
  CheckpointOptions options;
  options.writers = writers;
  options.keep = keep;
  options.block_bytes = 512;
  return options;
}

SaveResult save_alone(CheckpointStore& store, const Communicator& self, std::int64_t step, int salt) {
  return store.save(small_contents(step),
                    owned_blocks(small_state(), self.rank(), self.size(), Cut::rows, salt));
}

std::string reseal(const std::string& text) {
  return sealed(text.substr(0, text.rfind(",\n\"xxh3_128_of_all_above")));
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void flip_bit(const std::filesystem::path& path, std::int64_t byte, int bit) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekg(byte);
  const auto flipped = static_cast<char>(file.get() ^ (1 << bit));
  file.seekp(byte);
  file.put(flipped);
}

}  // namespace charter::test
