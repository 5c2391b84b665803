// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/manifest.hpp"

#include <chrono>
#include <functional>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checksum.hpp"
#include "modules/checkpoint/manifest_seal.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

CheckpointManifest sample() {
  CheckpointManifest manifest;
  manifest.id = std::string(16, '0') + "0123456789abcdef";
  manifest.kind = "training";
  manifest.step = 1200;
  manifest.loss = 1.0 / 3;
  manifest.created = "2026-02-03T04:05:06Z";
  manifest.read_back = true;
  manifest.restarted_from = 1000;
  manifest.written_by = {{"ranks", 2}};
  manifest.training_state = {{"cursor", {{"epoch", 1}}}};
  manifest.files = {{"config.json", 12, text_checksum("hello")}};
  manifest.parts = {{"part_0000.h5", 4096}, {"part_0001.h5", 5000}};
  manifest.tensors = {{"moment1", "a", DataType::f64, {3}, {1, 2}, {{0, 0, {{0}, {3}}, 77}}},
                      {"weights",
                       "a",
                       DataType::f32,
                       {4, 6},
                       {3, ~std::uint64_t{0}},
                       {{0, 0, {{0, 0}, {2, 6}}, 1}, {1, 0, {{2, 0}, {2, 6}}, 2}}},
                      {"weights", "scalar", DataType::f32, {}, {5, 6}, {{1, 0, {{}, {}}, 3}}}};
  return manifest;
}

// The sample with its JSON edited and sealed again: what a faulty or hostile program could write.
std::string edited(const std::function<void(Json&)>& edit) {
  Json json = Json::parse(manifest_text(sample()));
  json.erase("xxh3_128_of_all_above");
  edit(json);
  std::string text = json.dump();
  text.pop_back();
  return sealed(text);
}

void expect_damaged(const std::string& text, const char* part) {
  try {
    parse_manifest(text, "M");
    ADD_FAILURE() << "accepted; expected: " << part;
  } catch (const DamagedCheckpoint& error) {
    EXPECT_THAT(error.what(), testing::AllOf(testing::StartsWith("M: "), testing::HasSubstr(part)));
  }
}

TEST(Manifest, ReadsBackWhatItWrote) {
  const std::string text = manifest_text(sample());
  const CheckpointManifest back = parse_manifest(text, "M");
  EXPECT_EQ(manifest_text(back), text);
  EXPECT_EQ(back.loss, 1.0 / 3);
  EXPECT_EQ(back.restarted_from, 1000);
  EXPECT_EQ(back.tensors[1].fingerprint, sample().tensors[1].fingerprint);
  EXPECT_EQ(back.find("weights", "scalar")->blocks[0].checksum, 3U);
  EXPECT_EQ(back.find("weights", "b"), nullptr);
}

TEST(Manifest, EveryFlippedBitIsFound) {
  const std::string text = manifest_text(sample());
  for (std::size_t byte = 0; byte < text.size(); ++byte) {
    std::string damaged = text;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
    EXPECT_THROW(parse_manifest(damaged, "M"), DamagedCheckpoint) << byte;
  }
}

TEST(Manifest, EveryTruncationAndEveryAdditionIsFound) {
  const std::string text = manifest_text(sample());
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_THROW(parse_manifest(text.substr(0, size), "M"), DamagedCheckpoint) << size;
  }
  EXPECT_THROW(parse_manifest(text + "\n", "M"), DamagedCheckpoint);
  EXPECT_THROW(parse_manifest(text + text, "M"), DamagedCheckpoint);
}

TEST(Manifest, ANewerSchemaIsRefusedWithBothNumbers) {
  const std::string text = edited([](Json& json) { json["schema"] = {3, 0}; });
  expect_error([&] { parse_manifest(text, "M"); }, ExitCode::configuration,
               {"schema 3", "up to 1", "newer build"});
}

TEST(Manifest, MinorAdditionsAreOverlooked) {
  const std::string text = edited([](Json& json) {
    json["schema"] = {1, 9};
    json["added_later"] = {1, 2, 3};
  });
  EXPECT_EQ(parse_manifest(text, "M").step, 1200);
}

TEST(Manifest, NamesThatLeaveTheFolderAreRefused) {
  expect_damaged(edited([](Json& json) { json["files"][0]["name"] = "../../etc/passwd"; }), "not allowed");
  expect_damaged(edited([](Json& json) { json["files"][0]["name"] = ".."; }), "not allowed");
  expect_damaged(edited([](Json& json) { json["parts"][0]["name"] = "../part_0000.h5"; }),
                 "part 0 is called");
  expect_damaged(edited([](Json& json) { json["tensors"][0]["name"] = "a/../../b"; }), "not allowed");
  expect_damaged(edited([](Json& json) { json["tensors"][0]["group"] = ""; }), "not allowed");
}

TEST(Manifest, SizesThatCannotBeAreRefused) {
  const auto tensor = [](Json& json) -> Json& { return json["tensors"][1]; };
  expect_damaged(edited([&](Json& json) {
                   tensor(json)["shape"] = {4'000'000'000, 4'000'000'000};
                 }),
                 "64 bits");
  expect_damaged(edited([&](Json& json) { tensor(json)["shape"] = {-4, 6}; }), "\"shape\" is -4");
  expect_damaged(edited([&](Json& json) { tensor(json)["shape"] = {4.5, 6}; }), "not an integer");
  expect_damaged(edited([&](Json& json) {
                   tensor(json)["shape"] = {18446744073709551615ULL, 6};
                 }),
                 "not an integer");
  expect_damaged(edited([&](Json& json) {
                   tensor(json)["shape"] = Json::array({1, 1, 1, 1, 1, 1, 1, 1, 1});
                 }),
                 "at most 8");
  expect_damaged(edited([&](Json& json) { tensor(json)["blocks"][0][3] = {3, 6}; }), "covered twice");
  expect_damaged(edited([&](Json& json) { tensor(json)["blocks"].erase(0); }), "12 of 24");
  expect_damaged(edited([&](Json& json) { tensor(json)["blocks"][0][0] = 2; }), "part 2, there are 2");
  expect_damaged(edited([&](Json& json) { tensor(json)["blocks"][0][4] = "zz"; }), "16-digit checksum");
  expect_damaged(edited([&](Json& json) { tensor(json)["blocks"][0] = 5; }), "is not [part");
  expect_damaged(edited([&](Json& json) { tensor(json)["type"] = "F16"; }), "allowed F32 and F64");
  expect_damaged(edited([](Json& json) {
                   json["tensors"] = {{{"group", "weights"},
                                       {"name", "huge"},
                                       {"type", "F32"},
                                       {"shape", {1LL << 40}},
                                       {"fingerprint", std::string(32, '0')},
                                       {"blocks", {{0, 0, {0}, {1LL << 40}, std::string(16, '0')}}}}};
                 }),
                 "more than 67108864 bytes");
  expect_damaged(edited([](Json& json) { json["tensors"].push_back(json["tensors"][2]); }), "stands twice");
  expect_damaged(edited([](Json& json) { json.erase("training_state"); }), "\"training_state\" is missing");
  expect_damaged(edited([](Json& json) { json["step"] = "12"; }), "not an integer");
}

// A manifest of a few megabytes must not cost hours.
TEST(Manifest, ManyBlocksBesideEachOtherAreComparedQuickly) {
  constexpr std::int64_t columns = 30'000;
  CheckpointManifest manifest = sample();
  StoredTensor& tensor = manifest.tensors[1];
  tensor.shape = {1, columns};
  tensor.blocks.clear();
  for (std::int32_t i = 0; i < columns; ++i) tensor.blocks.push_back({0, i, {{0, i}, {1, 1}}, 7});
  const std::string text = manifest_text(manifest);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(parse_manifest(text, "M").tensors[1].blocks.size(), static_cast<std::size_t>(columns));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  tensor.blocks[17'000].place.offset = {0, 16'999};
  expect_damaged(manifest_text(manifest), "1 elements at [0, 16999] are covered twice");
}

TEST(Manifest, NumbersThatNoJsonHoldsAreDamage) {
  std::string text = edited([](Json& json) { json["loss"] = 0.5; });
  text.replace(text.find("\"loss\":0.5"), 10, "\"loss\":1e400");
  expect_damaged(reseal(text), "1e400");
}

TEST(Manifest, ChecksumIsThatOfTheXxhsumProgram) {
  // Test vectors of XXH3 for empty input, https://github.com/Cyan4973/xxHash.
  EXPECT_EQ(to_hex(block_checksum({})), "2d06800538d394c2");
  EXPECT_EQ(text_checksum(""), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(from_hex("00000000000000fF"), std::nullopt);
  EXPECT_EQ(from_hex("00000000000000ff"), 255U);
}

TEST(CheckpointNames, TellStatesApart) {
  EXPECT_EQ(step_folder_name(1200), "step-0000001200");
  EXPECT_EQ(step_of_folder("step-0000001200"), 1200);
  EXPECT_EQ(step_of_folder(step_folder_name(123456789012)), 123456789012);
  for (const char* name : {"step-1200", "step-00000000001", "step-0000001200/", "Step-0000001200",
                           "step-0000001200.tmp.j", "step-99999999999999999999", "../step-0000001200", ""}) {
    EXPECT_EQ(step_of_folder(name), std::nullopt) << name;
  }
  EXPECT_EQ(state_of_folder(in_flight_folder_name(3, "job/7 x")), FolderState::in_flight);
  EXPECT_EQ(in_flight_folder_name(3, "job/7 x"), "step-0000000003.tmp.job_7_x");
  EXPECT_EQ(state_of_folder("step-0000000003.bad-2"), FolderState::bad);
  EXPECT_EQ(state_of_folder("step-0000000003.superseded"), FolderState::superseded);
  EXPECT_EQ(state_of_folder(".trash-step-0000000003"), FolderState::trash);
  EXPECT_EQ(state_of_folder("step-0000000003.old"), FolderState::foreign);
  EXPECT_FALSE(is_plain_file_name("a\\b"));
  EXPECT_FALSE(is_plain_file_name(std::string("a\0b", 3)));
  EXPECT_FALSE(is_tensor_name("."));
  EXPECT_FALSE(is_group_name("Weights"));
}

}  // namespace
}  // namespace charter::test
