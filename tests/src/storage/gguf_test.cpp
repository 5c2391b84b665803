// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf.hpp"

#include <functional>

#include "src/storage/tensor_decode.hpp"
#include "tests/src/storage/gguf_builder.hpp"

namespace charter {
namespace {

void expect_refused(const GgufBuilder& builder, const std::vector<std::string>& fragments) {
  SCOPED_TRACE(fragments.front());
  const TemporaryFolder folder;
  builder.write(folder / "bad.gguf");
  expect_error(ExitCode::bad_input, fragments, [&] { const GgufFile file(folder / "bad.gguf"); });
}

TEST(Gguf, ReadsMetadataOfEveryType) {
  const TemporaryFolder folder;
  GgufBuilder builder;
  builder.value("u8", 0, raw<std::uint8_t>(200))
      .value("i8", 1, raw<std::int8_t>(-3))
      .value("u16", 2, raw<std::uint16_t>(60000));
  builder.value("i16", 3, raw<std::int16_t>(-300))
      .u32("u32", 4'000'000'000U)
      .value("i32", 5, raw<std::int32_t>(-70000));
  builder.f32("f32", 1e-5F)
      .boolean("yes", true)
      .text("text", "hello")
      .value("u64", 10, raw<std::uint64_t>(1ULL << 40));
  builder.value("i64", 11, raw<std::int64_t>(-(1LL << 40)))
      .value("f64", 12, raw(0.1))
      .value("large", 10, raw(~0ULL));
  builder.texts("texts", {"a", "", "bc"}).i32s("numbers", {5, -6});
  for (const std::uint32_t version : {2U, 3U}) {
    builder.version = version;
    const GgufFile file(builder.write(folder / "a.gguf"));
    EXPECT_EQ(file.version(), version);
    EXPECT_EQ(file.integer("u8"), 200);
    EXPECT_EQ(file.integer("i8"), -3);
    EXPECT_EQ(file.integer("u16"), 60000);
    EXPECT_EQ(file.integer("i16"), -300);
    EXPECT_EQ(file.integer("u32"), 4'000'000'000);
    EXPECT_EQ(file.integer("i32"), -70000);
    EXPECT_EQ(file.integer("u64"), 1LL << 40);
    EXPECT_EQ(file.integer("i64"), -(1LL << 40));
    EXPECT_EQ(file.real("f32"), 1e-5);
    EXPECT_EQ(file.real("f64"), 0.1);
    EXPECT_EQ(file.text("text"), "hello");
    EXPECT_EQ(file.find_boolean("yes"), true);
    EXPECT_EQ(file.find_texts("texts"), (std::vector<std::string>{"a", "", "bc"}));
    EXPECT_EQ(file.find_integers("numbers"), (std::vector<std::int64_t>{5, -6}));
    EXPECT_EQ(file.find_integer("absent"), std::nullopt);
    expect_error(ExitCode::bad_input, {"a.gguf", "absent", "missing"}, [&] { file.text("absent"); });
    expect_error(ExitCode::bad_input, {"large", "63 bits"}, [&] { file.integer("large"); });
    expect_error(ExitCode::bad_input, {"text", "not an integer"}, [&] { file.integer("text"); });
    expect_error(ExitCode::bad_input, {"u8", "not text"}, [&] { file.text("u8"); });
    expect_error(ExitCode::bad_input, {"texts", "not an integer"}, [&] { file.find_integers("texts"); });
  }
}

// Blocks of 32 with the scale (and minimum) in half precision; values[i] as the format's own formula gives
// them.
struct Quantised {
  std::uint32_t type_id = 0;
  DataType type = DataType::f32;
  std::string bytes;
  std::vector<float> values;
};

std::vector<Quantised> quantised_examples() {
  std::vector<Quantised> examples(3);
  examples[0] = {2, DataType::q4_0, {}, std::vector<float>(96)};
  examples[1] = {3, DataType::q4_1, {}, std::vector<float>(96)};
  examples[2] = {8, DataType::q8_0, {}, std::vector<float>(96)};
  for (int block = 0; block < 3; ++block) {
    const float scale = block == 0 ? 1.0F : block == 1 ? -0.375F : 0x1p-14F;
    const float minimum = block == 0 ? 0.0F : block == 1 ? 2.5F : -65504.0F;
    const std::string half_scale = raw(float_to_f16(scale));
    examples[0].bytes += half_scale;
    examples[1].bytes += half_scale + raw(float_to_f16(minimum));
    examples[2].bytes += half_scale;
    for (int j = 0; j < 16; ++j) {
      const int low = (j * 7 + block) % 16;
      const int high = (j * 5 + 3 * block + 1) % 16;
      examples[0].bytes += static_cast<char>(low | (high << 4));
      examples[1].bytes += static_cast<char>(low | (high << 4));
      const int at = 32 * block + j;
      examples[0].values[at] = scale * static_cast<float>(low - 8);
      examples[0].values[at + 16] = scale * static_cast<float>(high - 8);
      examples[1].values[at] = scale * static_cast<float>(low) + minimum;
      examples[1].values[at + 16] = scale * static_cast<float>(high) + minimum;
    }
    for (int j = 0; j < 32; ++j) {
      const int value = (j * 37 + block * 11) % 256 - 128;
      examples[2].bytes += static_cast<char>(value);
      examples[2].values[32 * block + j] = scale * static_cast<float>(value);
    }
  }
  return examples;
}

TEST(Gguf, DequantisesEveryRangeOfABlockFormat) {
  for (const Quantised& example : quantised_examples()) {
    SCOPED_TRACE(example.type_id);
    const TemporaryFolder folder;
    GgufBuilder builder;
    builder.tensor("w", {96}, example.type_id, example.bytes);
    const GgufFile file(builder.write(folder / "a.gguf"));
    ASSERT_EQ(file.tensors().size(), 1U);
    EXPECT_EQ(file.tensors()[0].type, example.type);
    for (std::size_t first = 0; first < 96; ++first) {
      for (const std::size_t count :
           {std::size_t{1}, std::size_t{31}, std::size_t{32}, std::size_t{50}, 96 - first}) {
        if (first + count > 96) continue;
        std::vector<float> values(count);
        decode_elements(example.type, file.data_of(file.tensors()[0]), static_cast<std::int64_t>(first),
                        values);
        const std::vector<float> expected(example.values.begin() + first,
                                          example.values.begin() + first + count);
        EXPECT_EQ(values, expected);
      }
    }
    std::vector<float> beyond(2);
    expect_error(ExitCode::internal, {"inside the tensor"},
                 [&] { decode_elements(example.type, file.data_of(file.tensors()[0]), 95, beyond); });
  }
}

TEST(Gguf, TensorsFollowEachOtherPaddedToTheAlignment) {
  const TemporaryFolder folder;
  GgufBuilder builder;
  builder.alignment = 128;
  builder.u32("general.alignment", 128)
      .floats("a", {3, 2}, {1, 2, 3, 4, 5, 6})
      .floats("s", {}, {7})
      .tensor("h", {2}, 30, raw<std::uint16_t>(0x3f80) + raw<std::uint16_t>(0x4000));
  const GgufFile file(builder.write(folder / "a.gguf"));
  EXPECT_EQ(file.tensors()[0].shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_TRUE(file.tensors()[1].shape.empty());
  std::vector<float> values(2);
  decode_elements(DataType::bf16, file.data_of(file.tensors()[2]), 0, values);
  EXPECT_EQ(values, (std::vector<float>{1.0F, 2.0F}));
  decode_elements(DataType::f32, file.data_of(file.tensors()[0]), 4, values);
  EXPECT_EQ(values, (std::vector<float>{5.0F, 6.0F}));
}

TEST(Gguf, RefusesBrokenStarts) {
  const TemporaryFolder folder;
  for (const std::string& bytes : {std::string(), std::string("GGU"), std::string("GGML1234")}) {
    write_bytes(folder / "a.gguf", bytes);
    expect_error(ExitCode::bad_input, {"not a GGUF file"}, [&] { const GgufFile file(folder / "a.gguf"); });
  }
  write_bytes(folder / "a.gguf", "GGUF");
  expect_error(ExitCode::bad_input, {"truncated"}, [&] { const GgufFile file(folder / "a.gguf"); });
  write_bytes(folder / "a.gguf", "version https://git-lfs.github.com/spec/v1\n");
  expect_error(ExitCode::bad_input, {"Git LFS pointer"}, [&] { const GgufFile file(folder / "a.gguf"); });
  for (const auto& [version, says] : std::vector<std::pair<std::uint32_t, std::string>>{
           {0, "version 0"}, {1, "version 1"}, {4, "version 4"}, {0x03000000, "wrong endianness"}}) {
    GgufBuilder builder;
    builder.version = version;
    expect_refused(builder, {says});
  }
}

TEST(Gguf, RefusesCountsThatDoNotFitTheFile) {
  for (const std::uint64_t count : {~0ULL, 1ULL << 63, 1ULL << 32, 100ULL}) {
    GgufBuilder builder;
    builder.u32("a", 1).tensor_count = count;
    expect_refused(builder, {"tensor count"});
    builder.tensor_count.reset();
    builder.value_count = count;
    expect_refused(builder, {"metadata count"});
  }
}

TEST(Gguf, RefusesBrokenKeysAndValues) {
  const std::vector<std::pair<std::function<void(GgufBuilder&)>, std::string>> cases{
      {[](GgufBuilder& b) { b.u32("", 1); }, "metadata key has 0 bytes"},
      {[](GgufBuilder& b) { b.u32(std::string(65536, 'k'), 1); }, "metadata key has 65536 bytes"},
      {[](GgufBuilder& b) { b.u32("a", 1).u32("a", 1); }, "duplicate metadata key a"},
      {[](GgufBuilder& b) { b.value("a", 13, raw(1)); }, "value type 13"},
      {[](GgufBuilder& b) { b.value("a", ~0U, raw(1)); }, "value type"},
      {[](GgufBuilder& b) { b.value("a", 7, raw<std::uint8_t>(2)); }, "boolean value 2"},
      {[](GgufBuilder& b) { b.value("a", 8, raw(~0ULL) + "xy"); }, "length of a"},
      {[](GgufBuilder& b) { b.value("a", 9, raw(9U) + raw(1ULL) + raw(4U) + raw(0ULL)); }, "array of arrays"},
      {[](GgufBuilder& b) { b.value("a", 9, raw(4U) + raw(~0ULL)); }, "length of array a"},
      {[](GgufBuilder& b) { b.value("a", 9, raw(4U) + raw((~0ULL >> 2) + 1) + raw(1U)); },
       "length of array a"},
      {[](GgufBuilder& b) { b.value("a", 9, raw(8U) + raw(5ULL) + gguf_text("x")); }, "length of array a"},
      {[](GgufBuilder& b) { b.value("a", 12, raw(1U)).alignment = 1; }, "truncated"},
  };
  for (const auto& [damage, says] : cases) {
    GgufBuilder builder;
    damage(builder);
    expect_refused(builder, {says, "bad.gguf", "byte"});
  }
  GgufBuilder builder;
  builder.value("", 4, "").value_count = 2;
  std::string bytes = "GGUF" + raw(3U) + raw(0ULL) + raw(1ULL) + raw(~0ULL) + std::string(30, 'k');
  const TemporaryFolder folder;
  write_bytes(folder / "a.gguf", bytes);
  expect_error(ExitCode::bad_input, {"length of metadata key"},
               [&] { const GgufFile file(folder / "a.gguf"); });
}

TEST(Gguf, RefusesBrokenAlignments) {
  for (const std::uint32_t alignment : {0U, 13U, 48U}) {
    GgufBuilder builder;
    builder.u32("general.alignment", alignment).floats("w", {1}, {1});
    expect_refused(builder, {"general.alignment", "power of two"});
  }
  GgufBuilder builder;
  builder.value("general.alignment", 5, raw(32)).floats("w", {1}, {1});
  expect_refused(builder, {"general.alignment", "unsigned 32-bit"});
}

TEST(Gguf, RefusesBrokenTensorDescriptions) {
  const std::string four = raw(1.0F);
  const std::vector<std::pair<std::function<void(GgufBuilder&)>, std::string>> cases{
      {[&](GgufBuilder& b) {
         b.tensor("w", {1, 1, 1, 1, 1}, 0, four);
       },
       "5 dims"},
      {[&](GgufBuilder& b) { b.tensor("w", {0}, 0, ""); }, "extent 0"},
      {[&](GgufBuilder& b) { b.tensor("w", {1ULL << 63}, 0, four); }, "extent 9223372036854775808"},
      {[&](GgufBuilder& b) {
         b.tensor("w", {1ULL << 32, 1ULL << 32}, 0, four);
       },
       "not a size that fits"},
      {[&](GgufBuilder& b) { b.tensor("w", {1ULL << 62}, 0, four); }, "not a size that fits"},
      {[&](GgufBuilder& b) {
         b.tensor("w", {1ULL << 61, 2}, 8, four);
       },
       "truncated"},
      {[&](GgufBuilder& b) { b.tensor("w", {(1ULL << 61) - 1}, 0, four); }, "not a size that fits"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 4, four); }, "type 4 is unknown"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 31, four); }, "type 31 is unknown"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 40, four); }, "type 40 is unknown"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, ~0U, four); }, "is unknown"},
      {[&](GgufBuilder& b) { b.tensor("w", {33}, 8, std::string(68, 'x')); },
       "rows of 33 are not whole blocks of 32"},
      {[&](GgufBuilder& b) {
         b.tensor("w", {16, 2}, 2, std::string(18, 'x'));
       },
       "rows of 16 are not whole blocks of 32"},
      {[&](GgufBuilder& b) { b.tensor("", {1}, 0, four); }, "tensor name has 0 bytes"},
      {[&](GgufBuilder& b) { b.tensor(std::string(64, 'n'), {1}, 0, four); }, "tensor name has 64 bytes"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 0, four).tensor("w", {1}, 0, four); },
       "duplicate tensor name w"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 0, four).offset_shift = 1; }, "offset 1"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 0, four).offset_shift = 32; }, "offset 32"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 0, four).offset_shift = 1ULL << 40; }, "beyond the file"},
      {[&](GgufBuilder& b) { b.tensor("w", {1}, 0, four).tensor("v", {20}, 0, std::string(4, 'x')); },
       "tensor v: its data end"},
      {[&](GgufBuilder& b) { b.tensor("w", {20}, 0, four).tensor("v", {30}, 0, std::string(120, 'x')); },
       "tensor v: offset 32"},
  };
  for (const auto& [damage, says] : cases) {
    GgufBuilder builder;
    damage(builder);
    expect_refused(builder, {says, "bad.gguf"});
  }
}

TEST(Gguf, RefusesAFileCutAnywhere) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama")
      .texts("list", {"a", "b"})
      .floats("w", {4}, {1, 2, 3, 4})
      .floats("v", {8}, {1, 2, 3, 4, 5, 6, 7, 8});
  const std::size_t size = builder.bytes().size();
  const TemporaryFolder folder;
  for (std::size_t cut = 1; cut <= size; ++cut) {
    builder.cut = cut;
    builder.write(folder / "a.gguf");
    expect_error(ExitCode::bad_input, {"a.gguf"}, [&] { const GgufFile file(folder / "a.gguf"); });
  }
}

// Whatever one damaged byte makes of the file, reading stays inside it.
TEST(Gguf, ADamagedByteIsRefusedOrHarmless) {
  GgufBuilder builder;
  builder.text("t", "llama")
      .texts("list", {"a", "b"})
      .i32s("n", {1, 2})
      .boolean("b", true)
      .u32("general.alignment", 32);
  builder.floats("w", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8}).tensor("q", {32}, 3, std::string(20, '\1'));
  const std::string good = builder.bytes();
  const TemporaryFolder folder;
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1 << (at % 8), 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      write_bytes(folder / "a.gguf", bytes);
      try {
        const GgufFile file(folder / "a.gguf");
        for (const std::string& key : file.keys()) {
          if (file.value_type(key) == GgufValueType::text) file.text(key);
          if (key == "list") file.find_texts(key);
          if (key == "n") file.find_integers(key);
        }
        for (const GgufTensor& tensor : file.tensors()) {
          std::vector<float> values(8);
          if (tensor.type) decode_elements(*tensor.type, file.data_of(tensor), 0, values);
        }
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace charter
