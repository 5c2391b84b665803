// SPDX-License-Identifier: Apache-2.0
// A file's claims cost no memory: whatever numbers stand in it, opening takes at most twice its size from the
// heap, plus what messages and tables need.
#include <fmt/format.h>

#include "src/storage/gguf.hpp"
#include "src/storage/gguf_model.hpp"
#include "src/storage/hdf5_dataset.hpp"
#include "src/storage/safetensors.hpp"
#include "tests/src/storage/gguf_builder.hpp"
#include "tests/support/allocation_watch.hpp"

namespace charter {
namespace {

constexpr std::size_t fixed_bytes = std::size_t{128} << 10;

template <class Open>
void expect_modest(const std::filesystem::path& file, const Open& open) {
  const test::AllocationWatch watch;
  EXPECT_THROW(open(), Error);
  EXPECT_LE(watch.peak(), 2 * std::filesystem::file_size(file) + fixed_bytes) << file;
}

TEST(StorageAllocation, SafetensorsClaims) {
  const TemporaryFolder folder;
  const auto expect = [&](const std::string& header, const std::string& data, std::uint64_t length) {
    SCOPED_TRACE(header.substr(0, 80));
    write_bytes(folder / "a", raw(length) + header + data);
    expect_modest(folder / "a", [&] { open_safetensors(folder / "a"); });
  };
  for (const std::uint64_t length : {~0ULL, 1ULL << 62, 99'999'999ULL, 1000ULL}) expect("{}", "", length);
  for (const char* entry :
       {R"({"a":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,4]}})",
        R"({"a":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}})",
        R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[9223372036854775800,9223372036854775804]}})"}) {
    expect(entry, "1234", std::string_view(entry).size());
  }
  std::string text = "{";
  for (int i = 0; i < 20'000; ++i) {
    text += fmt::format(R"({}"{}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", i == 0 ? "" : ",", i);
  }
  text += "}";
  expect(text, "1234", text.size());
}

TEST(StorageAllocation, GgufClaims) {
  const TemporaryFolder folder;
  const auto expect = [&](const GgufBuilder& builder) {
    builder.write(folder / "a.gguf");
    expect_modest(folder / "a.gguf", [&] { open_gguf_model(folder / "a.gguf"); });
  };
  for (const std::uint64_t count : {~0ULL, 1ULL << 62, 1ULL << 40}) {
    GgufBuilder tensors;
    tensors.tensor_count = count;
    expect(tensors);
    GgufBuilder values;
    values.value_count = count;
    expect(values);
    expect(GgufBuilder().value("list", 9, raw(4U) + raw(std::uint64_t{count})));
    expect(GgufBuilder().value("text", 8, raw(std::uint64_t{count})));
    expect(GgufBuilder().tensor("w", {count >> 1}, 0, "1234"));
  }
  GgufBuilder layers;
  layers.text("general.architecture", "llama")
      .u32("llama.block_count", 1U << 31)
      .u32("llama.embedding_length", 8);
  layers.u32("llama.attention.head_count", 2)
      .floats("token_embd.weight", {8, 3}, std::vector<float>(24, 1.0F));
  expect(layers);
}

TEST(StorageAllocation, AnHdf5DataSetThatClaimsAnExabyte) {
  const TemporaryFolder folder;
  const Hdf5Library library;
  {
    Hdf5File file = create_hdf5_file(folder / "a.h5");
    create_contiguous_dataset(file.id(), "/t/w", DataType::f32,
                              std::vector<std::int64_t>{std::int64_t{1} << 58});
    close_hdf5_file(std::move(file), folder / "a.h5");
  }
  const Hdf5File file = open_hdf5_file(folder / "a.h5");
  expect_error(ExitCode::bad_input, {"a.h5: /t/w", "were never written"},
               [&] { open_plain_dataset(file.id(), "/t/w"); });
  expect_modest(folder / "a.h5", [&] { open_plain_dataset(file.id(), "/t/w"); });
}

TEST(StorageAllocation, TheWatchSeesWhatItMust) {
  const test::AllocationWatch watch;
  { const std::vector<char> block(1'000'000); }
  EXPECT_GE(watch.largest(), 1'000'000U);
  EXPECT_GE(watch.peak(), 1'000'000U);
  EXPECT_LT(watch.peak(), 1'200'000U);
}

}  // namespace
}  // namespace charter
