// SPDX-License-Identifier: Apache-2.0
// All damage of a checkpoint in one list.
#include "modules/checkpoint/checkpoint_check.hpp"

#include "tests/modules/checkpoint/checkpoint_test_support.hpp"
#include "tests/modules/checkpoint/small_checkpoint.hpp"

namespace charter::test {
namespace {

using testing::HasSubstr;

class CheckpointCheckTest : public testing::Test {
 protected:
  CheckpointCheckTest() {
    std::vector<float> values(60);
    std::vector<float> others(8);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.5F + static_cast<float>(i);
    for (std::size_t i = 0; i < others.size(); ++i) others[i] = 1000.25F + static_cast<float>(i);
    write_small_checkpoint(path_, {{"weights", "long", {12, 5}, values}, {"weights", "short", {8}, others}},
                           small_contents(3));
  }
  std::vector<std::string> damage() const { return find_damage(path_); }
  // Flips a bit of the value wherever it is stored.
  void damage_value(float value) const {
    for (const char* name : {"part_0000.h5", "part_0001.h5"}) {
      const std::int64_t at = place_of(path_ / name, value);
      if (at < 0) continue;
      flip_bit(path_ / name, at, 0);
      return;
    }
    ADD_FAILURE() << value << " is stored nowhere";
  }

  TemporaryFolder folder_;
  std::filesystem::path path_ = folder_ / "model";
};

TEST_F(CheckpointCheckTest, ASoundOneHasNoneAndIsReadToItsEnd) {
  std::vector<std::int64_t> read;
  EXPECT_TRUE(find_damage(path_, [&](std::int64_t bytes) { read.push_back(bytes); }).empty());
  ASSERT_GT(read.size(), 4U);
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end()));
  EXPECT_EQ(read.back(), 68 * 4);
}

TEST_F(CheckpointCheckTest, EveryDamagedBlockAndFileIsNamed) {
  damage_value(1.5F);      // first block of the one
  damage_value(60.5F);     // last block of the same
  damage_value(1000.25F);  // the other
  flip_bit(path_ / "files/tokenizer.json", 3, 0);
  const std::vector<std::string> found = damage();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_THAT(found[0], AllOf(HasSubstr("/weights/long/"), HasSubstr("changed on disk")));
  EXPECT_THAT(found[1], HasSubstr("/weights/long/"));
  EXPECT_NE(found[0], found[1]);
  EXPECT_THAT(found[2], HasSubstr("/weights/short/"));
  EXPECT_THAT(found[3], HasSubstr("tokenizer.json"));
}

TEST_F(CheckpointCheckTest, AFingerprintThatIsNotThatOfTheValuesIsFound) {
  std::string text = read_bytes(path_ / "MANIFEST.json");
  const std::size_t at = text.find("\"fingerprint\":\"") + 15;
  text[at] = text[at] == '0' ? '1' : '0';
  write_bytes(path_ / "MANIFEST.json", reseal(text));
  const std::vector<std::string> found = damage();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], HasSubstr("weights/long has fingerprint"));
}

TEST_F(CheckpointCheckTest, EveryFileOfAWrongSizeIsNamed) {
  std::filesystem::remove(path_ / "part_0000.h5");
  std::filesystem::resize_file(path_ / "part_0001.h5", 100);
  const std::vector<std::string> found = damage();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_THAT(found[0], AllOf(HasSubstr("part_0000.h5: No such file"), HasSubstr("part_0001.h5: has 100")));
}

TEST_F(CheckpointCheckTest, ADamagedManifestIsDamageAndAMissingFolderIsNot) {
  flip_bit(path_ / "MANIFEST.json", 40, 1);
  ASSERT_EQ(damage().size(), 1U);
  expect_error([&] { find_damage(folder_ / "nowhere"); }, ExitCode::missing_input, {"nowhere"});
}

}  // namespace
}  // namespace charter::test
