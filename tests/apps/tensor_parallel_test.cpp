// SPDX-License-Identifier: Apache-2.0
// --tp and --sequence-parallel as a user gives them: the same training, the same restart, the same messages
// on every mesh.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/tiny_training.hpp"

namespace charter::apps_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class TensorParallel : public TinyTraining {
 protected:
  TensorParallel()
      : TinyTraining("tp", 37, {"--max-steps", "20", "--schedule", "constant", "--warmup", "2"}) {}

  void expect_same_training(const std::string& run, const std::string& reference) const {
    const auto lines = metrics(path(run), "loss");
    for (const auto& [step, line] : metrics(path(reference), "loss")) {
      const double loss = line.at("loss").get<double>();
      ASSERT_TRUE(lines.contains(step)) << run << " step " << step;
      EXPECT_NEAR(lines.at(step).at("loss").get<double>(), loss, 1e-5 * loss) << run << " step " << step;
      EXPECT_NEAR(lines.at(step).at("grad_norm").get<double>(), line.at("grad_norm").get<double>(),
                  1e-4 * line.at("grad_norm").get<double>())
          << run << " step " << step;
    }
  }
};

TEST_F(TensorParallel, LossesAreThoseOfOneRankAndRestartsMayChangeTheMesh) {
  ASSERT_EQ(run(1, "sft_train", arguments("reference")).exit_code, 0);
  struct Meshes {
    std::string name;
    int ranks;
    std::vector<std::string> cut;
    int ranks_later;
    std::vector<std::string> cut_later;
  };
  const std::vector<Meshes> cases{
      {"from-2-to-1", 2, {"--tp", "2"}, 1, {}},
      {"from-2x2-to-4", 4, {"--tp", "2"}, 4, {"--tp", "4", "--sequence-parallel"}},
      {"from-4-to-2x2", 4, {"--tp", "4"}, 4, {"--tp", "2", "--sequence-parallel"}},
      {"from-data-to-2", 3, {}, 2, {"--tp", "2"}}};
  for (const Meshes& one : cases) {
    const Finished begun =
        run(one.ranks, "sft_train", with_changes(arguments(one.name, {"--max-steps", "10"}), one.cut));
    ASSERT_EQ(begun.exit_code, 0) << begun.output;
    const Finished ended = run(one.ranks_later, "sft_train", arguments(one.name, one.cut_later));
    ASSERT_EQ(ended.exit_code, 0) << ended.output;
    expect_same_training(one.name, "reference");
  }
}

TEST_F(TensorParallel, MistakesNameEveryRuleWithItsLegalDegreesOnAnyNumberOfRanks) {
  for (const int ranks : {1, 4}) {
    const Finished finished = run(ranks, "sft_train", arguments("run", {"--tp", "3"}));
    EXPECT_EQ(finished.exit_code, 78) << finished.output;
    EXPECT_THAT(finished.output,
                AllOf(HasSubstr("--tp 3"), HasSubstr("attention heads cannot be divided by --tp 3"),
                      HasSubstr("does not divide the")));
    EXPECT_EQ(finished.output.find(" error: "), finished.output.rfind(" error: ")) << finished.output;
  }
  const Finished uncut = run(2, "sft_train", arguments("run", {"--sequence-parallel"}));
  EXPECT_EQ(uncut.exit_code, 64) << uncut.output;
  EXPECT_THAT(uncut.output, HasSubstr("it goes with --tp 2 or more"));
  const Finished verified = run(2, "sft_train", arguments("run", {"--tp", "2", "--verify"}));
  EXPECT_EQ(verified.exit_code, 64) << verified.output;
  EXPECT_THAT(verified.output, HasSubstr("--verify goes with --tp 1"));
}

TEST_F(TensorParallel, ADryRunOfOneProcessPredictsThePoolOfTheRun) {
  const Finished plan =
      run(0, "sft_train", arguments("run", {"--dry-run", "--dp", "1", "--tp", "2", "--sequence-parallel"}));
  ASSERT_EQ(plan.exit_code, 0) << plan.output;
  ASSERT_EQ(run(2, "sft_train", arguments("run", {"--tp", "2", "--sequence-parallel"})).exit_code, 0);
  const auto last =
      metrics(path("run"), "pool_peak_bytes").rbegin()->second.at("pool_peak_bytes").get<std::int64_t>();
  EXPECT_THAT(plan.output, HasSubstr("pool peak of rank 0: " + std::to_string(last) + " bytes"));
}

}  // namespace
}  // namespace charter::apps_test
