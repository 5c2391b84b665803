// SPDX-License-Identifier: Apache-2.0
// Starts that do not fit together: ranks with different options or programs, lonely ranks, meshes that cannot
// stand, and checkpoints whose parts are other HDF5 files.
#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/checkpoint/manifest_seal.hpp"
#include "src/base/file.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr int soon_s = 40;

void expect_one_message(const Finished& finished, int code, const std::vector<std::string>& parts) {
  EXPECT_EQ(finished.exit_code, code) << finished.output;
  for (const std::string& part : parts) EXPECT_THAT(finished.output, HasSubstr(part));
  const std::size_t first = finished.output.find(" error: ");
  EXPECT_NE(first, std::string::npos) << finished.output;
  EXPECT_EQ(finished.output.find(" error: ", first + 1), std::string::npos) << finished.output;
}

class HostileStarts : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_model(folder_.path() / "model");
    write_ragged_data(folder_.path() / "data.jsonl", 12);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::vector<std::string> arguments(const std::vector<std::string>& more = {}) const {
    return with_changes(
        {"--model", path("model"), "--random-start", "--data", path("data.jsonl"), "--run-dir", path("run"),
         "--max-length", "64", "--global-batch", "4", "--max-steps", "1"},
        more);
  }
  // Two ranks, the second started by a command of its own.
  Finished run_two_commands(const std::string& second_program, const std::vector<std::string>& more) const {
    std::vector<std::string> all = arguments();
    for (const std::string& one : {std::string(":"), std::string("-n"), std::string("1"), second_program}) {
      all.push_back(one);
    }
    for (const std::string& one : arguments(more)) all.push_back(one);
    return run(1, "sft_train", all, soon_s);
  }

  TestFolder folder_{"starts"};
};

TEST_F(HostileStarts, ARankWithAnotherOptionIsNamedWithBothValues) {
  expect_one_message(run_two_commands(program_folder() + "/sft_train", {"--seed", "9"}), 78,
                     {"the program or its options differ between ranks",
                      "--seed: rank 0 has \"1\", rank 1 has \"9\"", "Start all ranks by one command"});
  expect_one_message(run_two_commands(program_folder() + "/sft_train", {"--dry-run"}), 78,
                     {"--dry-run: rank 0 has \"false\""});
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(HostileStarts, ARankOfAnotherBuildIsNamed) {
  fs::copy_file(program_folder() + "/sft_train", path("sft_train"));
  write_file_atomically(path("other"), read_file(path("sft_train")) + std::string(64, 'x'));
  fs::permissions(path("other"), fs::perms::owner_all);
  expect_one_message(run_two_commands(path("other"), {}), 78, {"program: rank 0 has \"", "rank 1 has \""});
}

TEST_F(HostileStarts, SingletonsUnderALauncherThatAnnouncesMoreAreRefused) {
  ::setenv("PMI_SIZE", "4", 1);
  ::setenv("PMI_RANK", "2", 1);
  const Finished alone = run(0, "sft_train", arguments(), soon_s);
  ::unsetenv("PMI_SIZE");
  ::unsetenv("PMI_RANK");
  expect_one_message(alone, 78,
                     {"this process is alone (MPI world size 1)", "PMI_SIZE=4", "srun --mpi=list"});
  EXPECT_FALSE(fs::exists(path("run")));
}

TEST_F(HostileStarts, AMeshThatCannotStandNamesTheLegalOne) {
  expect_one_message(run(4, "sft_train", arguments({"--dp", "3"}), soon_s), 78,
                     {"--dp 3", "4 ranks that were started", "legal: --dp 4"});
  expect_one_message(run(1, "sft_train", arguments({"--dp", "3"}), soon_s), 78, {"--dp 3", "legal: --dp 1"});
}

// The newest checkpoint of a run, one part of which is replaced by `part`, with a manifest that says so.
void replace_part(const fs::path& run_dir, const fs::path& part) {
  const fs::path step = run_dir / "checkpoints" / "step-0000000001";
  const auto before = std::to_string(fs::file_size(step / "part_0000.h5"));
  fs::copy_file(part, step / "part_0000.h5", fs::copy_options::overwrite_existing);
  std::string text = read_file(step / "MANIFEST.json");
  text.resize(text.rfind(",\n\"xxh3_128_of_all_above"));
  const std::string entry = "{\"bytes\":" + before + ",\"name\":\"part_0000.h5\"}";
  ASSERT_NE(text.find(entry), std::string::npos) << text.substr(0, 2000);
  text.replace(text.find(entry), entry.size(),
               "{\"bytes\":" + std::to_string(fs::file_size(part)) + ",\"name\":\"part_0000.h5\"}");
  write_file_atomically(step / "MANIFEST.json", sealed(text));
}

TEST_F(HostileStarts, ACheckpointWhosePartIsAnotherHdf5FileIsRefused) {
  const fs::path bad = test::shared_data_folder() / "bad/hdf5";
  if (!fs::exists(bad)) GTEST_SKIP() << "no shared data";
  ASSERT_EQ(run(1, "sft_train", arguments()).exit_code, 0);
  fs::copy(path("run"), path("whole"), fs::copy_options::recursive);
  const auto damage = [&](const fs::path& part) {
    fs::remove_all(path("run"));
    fs::copy(path("whole"), path("run"), fs::copy_options::recursive);
    replace_part(path("run"), part);
  };
  const std::string model = path("run/checkpoints/step-0000000001");
  const std::string says = "part_0000.h5: not a complete HDF5 file of Charter's";
  int files = 0;
  for (const auto& entry : fs::directory_iterator(bad)) {
    if (entry.path().extension() != ".h5") continue;
    SCOPED_TRACE(entry.path().filename().string());
    damage(entry.path());
    expect_one_message(run(0, "model_convert", {"--from", model, "--to", path("converted")}, soon_s), 65,
                       {says});
    // As a model to start from and as a run to go on with, on several ranks: every sixth, to save time.
    if (files++ % 6 != 0) continue;
    for (const int ranks : {1, 4}) {
      expect_one_message(run(ranks, "sft_train",
                             {"--model", model, "--data", path("data.jsonl"), "--run-dir", path("other"),
                              "--max-length", "64"},
                             soon_s),
                         65, {says});
      damage(entry.path());
      const Finished resumed = run(ranks, "sft_train", arguments({"--max-steps", "2"}), soon_s);
      EXPECT_EQ(resumed.exit_code, 66) << resumed.output;
      EXPECT_THAT(resumed.output, HasSubstr(says));
      EXPECT_THAT(resumed.output, HasSubstr("step-0000000001.bad"));
      damage(entry.path());
    }
  }
  EXPECT_GE(files, 19);
}

}  // namespace
}  // namespace charter::apps_test
