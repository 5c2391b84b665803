// SPDX-License-Identifier: Apache-2.0
#include "src/storage/safetensors_writer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "src/storage/safetensors.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

// Any bits, not-a-numbers included.
std::vector<float> random_bits(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = std::bit_cast<float>(static_cast<std::uint32_t>(engine()));
  return values;
}

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

// Every file but temporary ones, and the check that none of those is left.
std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(SafetensorsWriter, Float32ComesBackBitForBitWhateverThePieces) {
  const TemporaryFolder folder;
  const std::vector<float> a = random_bits(70000, 1);
  const std::vector<float> b = random_bits(35, 2);
  SafetensorsWriter writer(folder / "out", {{"a", DataType::f32, {700, 100}},
                                            {"empty", DataType::f32, {0, 4}},
                                            {"b \"x\"", DataType::f32, {5, 7}}});
  const std::span<const float> whole(a);
  writer.append("a", whole.first(1));
  writer.append("b \"x\"", std::span(b).first(20));
  writer.append("a", whole.subspan(1, 69000));
  writer.append("b \"x\"", std::span(b).subspan(20));
  writer.append("a", whole.subspan(69001));
  writer.finish();
  EXPECT_EQ(names_in(folder / "out"), std::vector<std::string>{"model.safetensors"});
  const auto source = open_safetensors(folder / "out/model.safetensors");
  EXPECT_TRUE(same_bits(read_all(*source, "a", 70000), a));
  EXPECT_TRUE(same_bits(read_all(*source, "b \"x\"", 35), b));
  EXPECT_EQ(find_info(*source, "empty")->shape, (std::vector<std::int64_t>{0, 4}));
  EXPECT_TRUE(same_bits(read_all(*source, "a", 100, 12345), whole.subspan(12345, 100)));
  const auto metadata = read_safetensors_metadata(folder / "out/model.safetensors");
  EXPECT_EQ(metadata, (std::vector<std::pair<std::string, std::string>>{{"format", "pt"}}));
}

TEST(SafetensorsWriter, SixteenBitTypesRoundToNearestEven) {
  const TemporaryFolder folder;
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> values{1.0F,           1.0F + 0x1p-11F, 1.0F + 0x3p-11F, 65519.0F,
                                  0x1p-25F,       0x1.8p-25F,      -0.0F,           infinity,
                                  1.0F + 0x1p-8F, 1.0F + 0x3p-8F};
  SafetensorsWriter writer(folder.path(), {{"half", DataType::f16, {10}},
                                           {"brain", DataType::bf16, {10}},
                                           {"odd", DataType::f16, {1}},
                                           {"wide", DataType::f32, {1}}});
  writer.append("half", values);
  writer.append("brain", values);
  writer.append("odd", std::span(values).first(1));
  writer.append("wide", std::span(values).first(1));
  writer.finish();
  const auto source = open_safetensors(folder / "model.safetensors");
  EXPECT_EQ(read_all(*source, "half", 10),
            (std::vector<float>{1.0F, 1.0F, 1.0F + 0x4p-11F, 65504.0F, 0.0F, 0x1p-24F, -0.0F, infinity,
                                1.0F + 0x1p-8F, 1.0F + 0x3p-8F}));
  EXPECT_EQ(read_all(*source, "brain", 10),
            (std::vector<float>{1.0F, 1.0F, 1.0F, 65536.0F, 0x1p-25F, 0x1.8p-25F, -0.0F, infinity, 1.0F,
                                1.0F + 0x4p-8F}));
  EXPECT_TRUE(std::signbit(read_all(*source, "half", 1, 6)[0]));
  EXPECT_EQ(source->tensors().front().name, "wide") << "wide types come first, so that all are aligned";
}

TEST(SafetensorsWriter, WhatASixteenBitTypeCannotHoldIsNamedAndNothingIsLeft) {
  const TemporaryFolder folder;
  std::vector<float> values(70000, 1.0F);
  const auto write = [&](DataType type, float value) {
    values[69999] = value;
    SafetensorsWriter writer(folder.path(), {{"layer.weight", type, {700, 100}}});
    writer.append("layer.weight", values);
  };
  expect_error(ExitCode::bad_input, {"element 69999 of layer.weight is -65520", "largest F16"},
               [&] { write(DataType::f16, -65520.0F); });
  expect_error(ExitCode::bad_input, {"element 69999 of layer.weight is 3.4", "largest BF16"},
               [&] { write(DataType::bf16, std::numeric_limits<float>::max()); });
  EXPECT_TRUE(names_in(folder.path()).empty());
  write(DataType::f16, std::numeric_limits<float>::quiet_NaN());
}

TEST(SafetensorsWriter, CutsLargeModelsIntoShardsWithAnIndex) {
  const TemporaryFolder folder;
  const std::vector<float> values = random_bits(600, 3);
  std::vector<TensorInfo> infos;
  for (const char* name : {"a", "b", "c", "d"}) infos.push_back({name, DataType::f32, {100}});
  infos.push_back({"large", DataType::f32, {600}});
  {
    SafetensorsWriter writer(folder.path(), infos, 900);
    for (int i = 4; i >= 0; --i) writer.append(infos[i].name, std::span(values).first(i == 4 ? 600 : 100));
    writer.finish();
  }
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"model-00001-of-00003.safetensors", "model-00002-of-00003.safetensors",
                                      "model-00003-of-00003.safetensors", "model.safetensors.index.json"}));
  const auto source = open_sharded_safetensors(folder / "model.safetensors.index.json");
  EXPECT_EQ(source->tensors().size(), 5U);
  EXPECT_TRUE(same_bits(read_all(*source, "large", 600), values));
  EXPECT_TRUE(same_bits(read_all(*source, "c", 100), std::span(values).first(100)));
  EXPECT_NE(read_bytes(folder / "model.safetensors.index.json").find("\"total_size\": 4000"),
            std::string::npos);
  expect_error(ExitCode::cannot_write, {"exists already"},
               [&] { SafetensorsWriter again(folder.path(), infos); });
}

TEST(SafetensorsWriter, LeavesNothingBehindWhenItIsNotFinished) {
  const TemporaryFolder folder;
  {
    SafetensorsWriter writer(folder.path(), {{"a", DataType::f32, {2}}});
    const std::vector<float> three(3, 1.0F);
    writer.append("a", std::span(three).first(1));
    expect_error(ExitCode::internal, {"no more values"},
                 [&] { writer.append("a", std::span(three).first(2)); });
    expect_error(ExitCode::internal, {"declared: b"}, [&] { writer.append("b", three); });
    expect_error(ExitCode::internal, {"was written: a"}, [&] { writer.finish(); });
    EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"model.safetensors.tmp"});
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(SafetensorsWriter, AFullDiskIsAnErrorAndLeavesNothing) {
  const TemporaryFolder folder;
  const std::vector<float> values = random_bits(100000, 4);
  {
    SafetensorsWriter writer(folder.path(), {{"a", DataType::f32, {100000}}});
    const FileSizeLimit limit(200000);
    expect_error(ExitCode::cannot_write, {"model.safetensors.tmp", "writing failed"},
                 [&] { writer.append("a", values); });
  }
  EXPECT_TRUE(names_in(folder.path()).empty());
}

TEST(SafetensorsWriter, SaysWhyItCannotWrite) {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "x");
  expect_error(ExitCode::cannot_write, {"file"}, [&] { SafetensorsWriter writer(folder / "file", {}); });
  expect_error(ExitCode::internal, {"F32, F16 or BF16"}, [&] {
    SafetensorsWriter writer(folder / "out", {{"a", DataType::i32, {1}}});
  });
}

}  // namespace
}  // namespace charter
