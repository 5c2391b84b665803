// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checkpoint_difference.hpp"

#include <cmath>
#include <limits>

#include "tests/modules/checkpoint/checkpoint_test_support.hpp"
#include "tests/modules/checkpoint/small_checkpoint.hpp"

namespace charter::test {
namespace {

using Kind = TensorDifference::Kind;

class CheckpointDifferenceTest : public testing::Test {
 protected:
  static std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i);
    return values;
  }
  CheckpointReader write(const std::string& name, const std::vector<NamedValues>& tensors,
                         bool columns = false) const {
    write_small_checkpoint(folder_ / name, tensors, small_contents(1), columns);
    return read_checkpoint_folder(folder_ / name);
  }

  TemporaryFolder folder_;
};

TEST_F(CheckpointDifferenceTest, EqualTensorsAreEqualHoweverTheyAreStoredAndAreNotRead) {
  const CheckpointReader a = write("a", {{"weights", "t", {12, 6}, ramp(72)}});
  const CheckpointReader b = write("b", {{"weights", "t", {12, 6}, ramp(72)}}, true);
  for (const char* name : {"a", "b"}) {
    std::filesystem::remove(folder_ / name / "part_0000.h5");
    std::filesystem::remove(folder_ / name / "part_0001.h5");
  }
  const CheckpointDifference difference = compare_checkpoints(a, b, {});
  EXPECT_EQ(difference.compared, 1);
  EXPECT_TRUE(difference.equal());
}

TEST_F(CheckpointDifferenceTest, MeasuresByHowMuchValuesDifferWhateverTheBlocks) {
  std::vector<float> changed = ramp(72);
  changed[5] += 3;
  changed[70] -= 4;
  double squares = 0;
  for (const float value : ramp(72)) squares += static_cast<double>(value) * value;
  const CheckpointReader a = write("a", {{"weights", "t", {12, 6}, ramp(72)}});
  for (const bool columns : {false, true}) {
    const CheckpointReader b = write(columns ? "c" : "b", {{"weights", "t", {12, 6}, changed}}, columns);
    const CheckpointDifference difference = compare_checkpoints(a, b, {});
    ASSERT_EQ(difference.tensors.size(), 1U);
    const TensorDifference& tensor = difference.tensors[0];
    EXPECT_EQ(tensor.kind, Kind::values);
    EXPECT_EQ(tensor.name, "t");
    EXPECT_EQ(tensor.elements, 72);
    EXPECT_EQ(tensor.differing, 2);
    EXPECT_EQ(tensor.nonfinite, 0);
    EXPECT_EQ(tensor.max_abs, 4);
    EXPECT_DOUBLE_EQ(tensor.relative_norm, 5 / std::sqrt(squares));
    EXPECT_FALSE(difference.equal());
  }
}

TEST_F(CheckpointDifferenceTest, CountsBitsAndSetsWhatIsNotFiniteApart) {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const CheckpointReader a = write("a", {{"weights", "t", {4}, {0.0F, 1.0F, nan, nan}}});
  const CheckpointReader b = write("b", {{"weights", "t", {4}, {-0.0F, nan, 2.0F, nan}}});
  const TensorDifference tensor = compare_checkpoints(a, b, {}).tensors.at(0);
  EXPECT_EQ(tensor.differing, 3);  // the two zeros have other bits, the last two NaNs have not
  EXPECT_EQ(tensor.nonfinite, 2);
  EXPECT_EQ(tensor.max_abs, 0);
  EXPECT_EQ(tensor.relative_norm, 0);
}

TEST_F(CheckpointDifferenceTest, NamesWhatIsMissingOrOfAnotherShape) {
  const CheckpointReader a = write(
      "a",
      {{"moment1", "m", {2}, ramp(2)}, {"weights", "s", {2, 3}, ramp(6)}, {"weights", "t", {4}, ramp(4)}});
  const CheckpointReader b = write(
      "b",
      {{"weights", "s", {3, 2}, ramp(6)}, {"weights", "t", {4}, ramp(4)}, {"weights", "u", {2}, ramp(2)}});
  const CheckpointDifference all = compare_checkpoints(a, b, {});
  EXPECT_EQ(all.compared, 4);
  ASSERT_EQ(all.tensors.size(), 3U);
  EXPECT_EQ(all.tensors[0].kind, Kind::only_in_first);
  EXPECT_EQ(all.tensors[0].group + "/" + all.tensors[0].name, "moment1/m");
  EXPECT_EQ(all.tensors[1].kind, Kind::shape);
  EXPECT_EQ(all.tensors[1].detail, "[2, 3] and [3, 2]");
  EXPECT_EQ(all.tensors[2].kind, Kind::only_in_second);
  EXPECT_EQ(all.tensors[2].name, "u");
  EXPECT_EQ(compare_checkpoints(a, b, {"weights"}).tensors.size(), 2U);
}

TEST_F(CheckpointDifferenceTest, TextFilesThatDifferAreNamed) {
  const std::vector<NamedValues> tensors{{"weights", "t", {4}, ramp(4)}};
  const CheckpointReader a = write("a", tensors);
  CheckpointContents contents = small_contents(9);
  contents.files.erase("tokenizer.json");
  contents.files["config.json"] += " ";
  contents.files["generation_config.json"] = "{}";
  write_small_checkpoint(folder_ / "b", tensors, contents);
  const CheckpointDifference difference = compare_checkpoints(a, read_checkpoint_folder(folder_ / "b"), {});
  EXPECT_TRUE(difference.tensors.empty());
  EXPECT_THAT(difference.files,
              testing::ElementsAre("config.json: differs", "generation_config.json: only in the second",
                                   "tokenizer.json: only in the first"));
  EXPECT_FALSE(difference.equal());
}

TEST_F(CheckpointDifferenceTest, DamageIsAnErrorNotADifference) {
  const CheckpointReader a = write("a", {{"weights", "t", {4}, {1.25F, 0, 0, 0}}});
  const CheckpointReader b = write("b", {{"weights", "t", {4}, {2.25F, 0, 0, 0}}});
  for (const char* part : {"part_0000.h5", "part_0001.h5"}) {
    const std::int64_t at = place_of(folder_ / "b" / part, 2.25F);
    if (at >= 0) flip_bit(folder_ / "b" / part, at, 3);
  }
  expect_error([&] { compare_checkpoints(a, b, {}); }, ExitCode::bad_input, {"changed on disk"});
}

}  // namespace
}  // namespace charter::test
