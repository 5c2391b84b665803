// SPDX-License-Identifier: Apache-2.0
#include "src/storage/safetensors.hpp"

#include <chrono>

#include <fmt/format.h>

#include "src/base/json.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

// Length, header and data, as in a file.
std::string file_of(std::string_view header, std::string_view data = {}) {
  return raw(static_cast<std::uint64_t>(header.size())) + std::string(header) + std::string(data);
}

void expect_refused(const std::string& bytes, const std::vector<std::string>& fragments) {
  SCOPED_TRACE(bytes.substr(0, 100));
  const TemporaryFolder folder;
  write_bytes(folder / "bad.safetensors", bytes);
  expect_error(ExitCode::bad_input, fragments, [&] { open_safetensors(folder / "bad.safetensors"); });
}

TEST(Safetensors, VerdictsEqualTheReferenceReaders) {
  const auto folder = shared_data / "bad/safetensors";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const Json cases = parse_json(read_bytes(folder / "expected.json"), "expected.json");
  ASSERT_FALSE(cases.empty());
  for (const Json& item : cases) {
    const std::string file = item["file"].get<std::string>();
    SCOPED_TRACE(file);
    if (item["expected"] == "OK") {
      EXPECT_NO_THROW(open_safetensors(folder / file));
    } else {
      expect_error(ExitCode::bad_input, {file}, [&] { open_safetensors(folder / file); });
    }
  }
}

TEST(Safetensors, ReadsARealModel) {
  const auto file = shared_data / "stories260k/model.safetensors";
  if (!std::filesystem::exists(file)) GTEST_SKIP() << "no shared data";
  const auto source = open_safetensors(file);
  EXPECT_EQ(source->tensors().size(), 47U);
  EXPECT_EQ(source->tensors().front().name, "model.embed_tokens.weight");
  const TensorInfo* embedding = find_info(*source, "model.embed_tokens.weight");
  ASSERT_NE(embedding, nullptr);
  EXPECT_EQ(embedding->shape, (std::vector<std::int64_t>{512, 64}));
  EXPECT_EQ(read_all(*source, "model.embed_tokens.weight", 3),
            (std::vector<float>{-0x1.2dd2a0p-2F, 0x1.1fb0c8p-1F, 0x1.6743eep-3F}));
  EXPECT_EQ(read_all(*source, "model.embed_tokens.weight", 3, 403 * 64),
            (std::vector<float>{0x1.d07b72p-9F, -0x1.5c7ddcp-3F, 0x1.00ef36p-5F}));
  EXPECT_EQ(read_all(*source, "model.layers.4.mlp.down_proj.weight", 3, 64 * 172 - 3),
            (std::vector<float>{-0x1.3288aap-4F, -0x1.400016p-7F, -0x1.cba716p-9F}));
  expect_error(ExitCode::missing_input, {"nothing.weight"}, [&] { read_all(*source, "nothing.weight", 1); });
  expect_error(ExitCode::internal, {"inside the tensor"},
               [&] { read_all(*source, "model.norm.weight", 65); });
}

TEST(Safetensors, ReadsSixteenBitTypesAndNamesTheTypesItCannotRead) {
  const TemporaryFolder folder;
  const std::string header = R"({"h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                             R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[4,8]},)"
                             R"("mask":{"dtype":"BOOL","shape":[3],"data_offsets":[8,11]}})";
  const std::string data = raw<std::uint16_t>(0x3c00) + raw<std::uint16_t>(0xc100) +
                           raw<std::uint16_t>(0x3f80) + raw<std::uint16_t>(0xc049) + std::string(3, '\1');
  write_bytes(folder / "t.safetensors", file_of(header, data));
  const auto source = open_safetensors(folder / "t.safetensors");
  EXPECT_EQ(read_all(*source, "h", 2), (std::vector<float>{1.0F, -2.5F}));
  EXPECT_EQ(read_all(*source, "b", 2), (std::vector<float>{1.0F, -3.140625F}));
  EXPECT_FALSE(find_info(*source, "mask")->readable);
  expect_error(ExitCode::bad_input, {"mask", "BOOL"}, [&] { read_all(*source, "mask", 1); });
}

TEST(Safetensors, RefusesBrokenLengths) {
  expect_refused("", {"too short"});
  expect_refused("1234567", {"too short"});
  expect_refused(raw<std::uint64_t>(1000) + "{}", {"header length 1000 exceeds"});
  expect_refused(raw<std::uint64_t>(~0ULL) + "{}", {"header too large"});
  expect_refused(raw<std::uint64_t>(100'000'001) + "{}", {"header too large"});
  expect_refused(raw<std::uint64_t>(0) + "{}", {"empty header"});
}

TEST(Safetensors, RefusesHeadersThatAreNotTheFormat) {
  expect_refused(file_of("\xff"), {"does not start with {"});
  expect_refused(file_of(" {}"), {"does not start with {"});
  expect_refused(file_of("[]"), {"does not start with {"});
  expect_refused(file_of("{\"a\xff\":{}}"), {"not valid JSON"});
  expect_refused(file_of("{\"a\":"), {"not valid JSON"});
  expect_refused(file_of(std::string("{}\0{\"x\"", 6)), {"NUL"});
  expect_refused(file_of(R"({"a":5})"), {"tensor a", "not expected"});
  expect_refused(file_of(R"({"a":{"dtype":"F32","shape":[]}})"), {"all needed"});
  expect_refused(file_of(R"({"a":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":1}})", "1234"),
                 {"unknown field"});
  expect_refused(file_of(R"({"a":{"dtype":"F32","shape":[1e400],"data_offsets":[0,4]}})", "1234"),
                 {"not valid JSON"});
  expect_refused(file_of(R"({"__metadata__":{"a":5}})"), {"__metadata__", "not expected"});
  expect_refused(file_of(R"({"__metadata__":{"a":{"b":"c"}}})"), {"__metadata__", "nests no deeper"});
  expect_refused(file_of(R"({"a":{"shape":)" + std::string(500000, '[')), {"nests no deeper"});
  expect_refused("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 12\n",
                 {"Git LFS pointer", "git lfs pull"});
}

std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return fmt::format(R"("{}":{{"dtype":"{}","shape":{},"data_offsets":{}}})", name, type, shape, offsets);
}

// A file whose header holds these tensors.
std::string tensors(const std::vector<std::string>& list, std::string_view data) {
  return file_of(fmt::format("{{{}}}", fmt::join(list, ",")), data);
}

TEST(Safetensors, RefusesDuplicateKeys) {
  const std::string one = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
  expect_refused(tensors({one, one}, "x"), {"duplicate key \"a\""});
  expect_refused(file_of(R"({"a":{"dtype":"U8","dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "x"),
                 {"duplicate key"});
  expect_refused(file_of(R"({"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}})", "x"),
                 {"duplicate key"});
}

TEST(Safetensors, RefusesOffsetsThatDoNotCoverTheFileOnce) {
  const std::string eight(8, 'x');
  expect_refused(tensors({tensor("a", "U8", "[6]", "[0,6]"), tensor("b", "U8", "[6]", "[2,8]")}, eight),
                 {"overlapping offsets"});
  expect_refused(tensors({tensor("a", "U8", "[3]", "[0,3]"), tensor("b", "U8", "[3]", "[2,5]")}, eight),
                 {"tensor b", "overlap"});
  expect_refused(tensors({tensor("a", "U8", "[3]", "[0,3]"), tensor("b", "U8", "[4]", "[4,8]")}, eight),
                 {"tensor b", "hole"});
  expect_refused(tensors({tensor("a", "U8", "[3]", "[0,3]")}, eight), {"5 bytes", "not covered"});
  expect_refused(tensors({tensor("a", "U8", "[7]", "[1,8]")}, eight), {"hole"});
  expect_refused(tensors({tensor("a", "U8", "[9]", "[0,9]")}, eight), {"tensor a", "truncated"});
  expect_refused(file_of("{}", eight), {"8 bytes", "not covered"});
}

TEST(Safetensors, RefusesShapesThatDoNotFitTheirBytes) {
  expect_refused(tensors({tensor("a", "F32", "[2]", "[0,4]")}, "1234"), {"tensor a", "needs 8 bytes"});
  expect_refused(tensors({tensor("a", "F32", "[8589934592,8589934592]", "[0,4]")}, "1234"),
                 {"not a size that fits"});
  expect_refused(tensors({tensor("a", "F32", "[4611686018427387904]", "[0,4]")}, "1234"),
                 {"not a size that fits"});
  expect_refused(tensors({tensor("a", "F4", "[3]", "[0,2]")}, "12"), {"not whole bytes"});
  expect_refused(tensors({tensor("a", "F17", "[1]", "[0,2]")}, "12"), {"unknown dtype \"F17\""});
  expect_refused(tensors({tensor("a", "F32", "[-1]", "[0,4]")}, "1234"), {"negative"});
  expect_refused(tensors({tensor("a", "F32", "[18446744073709551615]", "[0,4]")}, "1234"), {"63 bits"});
  expect_refused(tensors({tensor("a", "F32", "[18446744073709551616]", "[0,4]")}, "1234"), {"63 bits"});
}

TEST(Safetensors, RefusesOffsetsOfAnotherForm) {
  for (const char* offsets :
       {"[4,0]", "[-4,0]", "[0.0,4]", "[\"0\",4]", "[0,4,8]", "[0]", "[]", "4", "[[0,4]]", "[null,4]"}) {
    expect_refused(tensors({tensor("a", "F32", "[1]", offsets)}, "1234"), {"tensor a"});
  }
}

// The verdict on a file, and that it takes less than a second.
void expect_refused_quickly(const std::filesystem::path& file, const std::string& fragment) {
  const auto begin = std::chrono::steady_clock::now();
  expect_error(ExitCode::bad_input, {fragment}, [&] { open_safetensors(file); });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
}

TEST(Safetensors, TenMillionTensorsOverTheSameBytesAreRefusedQuickly) {
  const TemporaryFolder folder;
  // The header that ten million would need is larger than the format allows; it is not looked at.
  const std::uint64_t header = 560'000'000;
  write_bytes(folder / "ten_million", raw(header) + "{" + tensor("0", "F32", "[1]", "[0,4]"));
  std::filesystem::resize_file(folder / "ten_million", 8 + header + 4);
  expect_refused_quickly(folder / "ten_million", "header too large");
  // As many as the format allows.
  std::string text = "{" + tensor("0", "F32", "[1]", "[0,4]");
  for (int i = 1; text.size() < 99'000'000; ++i)
    text += "," + tensor(std::to_string(i), "F32", "[1]", "[0,4]");
  write_bytes(folder / "as_many_as_fit", file_of(text + "}", "1234"));
  expect_refused_quickly(folder / "as_many_as_fit", "overlapping offsets");
}

// Whatever one damaged byte makes of the file, reading stays inside it.
TEST(Safetensors, ADamagedByteIsRefusedOrHarmless) {
  const std::string good = tensors({tensor("a", "F32", "[1,2]", "[0,8]"),
                                    tensor("b", "BF16", "[2]", "[8,12]"), R"("__metadata__":{"k":"v"})"},
                                   "123456789012");
  const TemporaryFolder folder;
  int refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1 << (at % 8), 0xff}) {
      std::string bytes = good;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      write_bytes(folder / "a.safetensors", bytes);
      try {
        const auto source = open_safetensors(folder / "a.safetensors");
        for (const TensorInfo& info : source->tensors()) read_all(*source, info.name, 2);
      } catch (const Error&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 250);
}

// Two shards; `index` is written beside them.
class ShardedSafetensors : public testing::Test {
 protected:
  ShardedSafetensors() {
    write_bytes(folder_ / "one.safetensors", tensors({tensor("a", "F32", "[1]", "[0,4]")}, raw(1.5F)));
    write_bytes(folder_ / "two.safetensors", tensors({tensor("b", "F32", "[1]", "[0,4]")}, raw(2.5F)));
  }
  void write_index(const std::string& map) { write_bytes(index_, R"({"weight_map":)" + map + "}"); }
  void expect_refused_index(const std::string& map, const std::vector<std::string>& fragments) {
    SCOPED_TRACE(map);
    write_index(map);
    expect_error(ExitCode::bad_input, fragments, [&] { open_sharded_safetensors(index_); });
  }
  TemporaryFolder folder_;
  std::filesystem::path index_ = folder_ / "model.safetensors.index.json";
};

TEST_F(ShardedSafetensors, ReadsEachTensorFromItsShard) {
  write_index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  const auto source = open_sharded_safetensors(index_);
  EXPECT_EQ(source->tensors().size(), 2U);
  EXPECT_EQ(read_all(*source, "a", 1), std::vector<float>{1.5F});
  EXPECT_EQ(read_all(*source, "b", 1), std::vector<float>{2.5F});
}

TEST_F(ShardedSafetensors, ReadsThroughSymbolicLinksAsDownloadCachesUseThem) {
  std::filesystem::create_directory(folder_ / "blobs");
  std::filesystem::rename(folder_ / "one.safetensors", folder_ / "blobs/abc");
  std::filesystem::create_symlink("blobs/abc", folder_ / "one.safetensors");
  write_index(R"({"a":"one.safetensors","b":"two.safetensors"})");
  EXPECT_EQ(read_all(*open_sharded_safetensors(index_), "a", 1), std::vector<float>{1.5F});
}

TEST_F(ShardedSafetensors, RefusesPathsThatLeaveTheFolder) {
  for (const char* shard : {"../one.safetensors", "/etc/passwd", "x/../../one.safetensors", ""}) {
    expect_refused_index(R"({"a":")" + std::string(shard) + R"(","b":"two.safetensors"})",
                         {"leaves the model's folder"});
  }
}

TEST_F(ShardedSafetensors, RefusesAnIndexThatDisagreesWithItsShards) {
  expect_refused_index(R"({"a":"one.safetensors","b":"three.safetensors","c":"four.safetensors"})",
                       {"three.safetensors", "four.safetensors", "is missing"});
  expect_refused_index(R"({"a":"one.safetensors","b":"two.safetensors","c":"two.safetensors"})",
                       {"tensor c is missing from two.safetensors"});
  expect_refused_index(R"({"a":"two.safetensors","b":"two.safetensors"})",
                       {"tensor a is missing from two.safetensors"});
  write_bytes(folder_ / "both.safetensors",
              tensors({tensor("a", "U8", "[1]", "[0,1]"), tensor("c", "U8", "[1]", "[1,2]")}, "12"));
  expect_refused_index(R"({"a":"both.safetensors","b":"two.safetensors"})",
                       {"tensor c is in both.safetensors but not in weight_map"});
  expect_refused_index(R"({"a":")" + std::string(300, 'x') + R"(","b":"two.safetensors"})",
                       {"is missing (File name too long)"});
  expect_refused_index("{}", {"empty"});
  expect_refused_index("[]", {"weight_map"});
  expect_refused_index(R"({"a":5})", {"not a file name"});
  write_bytes(folder_ / "two.safetensors", tensors({tensor("a", "F32", "[1]", "[0,4]")}, raw(2.5F)));
  expect_refused_index(R"({"a":"one.safetensors","b":"two.safetensors"})",
                       {"tensor a is in two shards", "tensor b is missing"});
}

}  // namespace
}  // namespace charter
