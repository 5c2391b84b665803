// SPDX-License-Identifier: Apache-2.0
// A run folder's checkpoints in one process: saved, found again, kept, put aside.
#include "modules/checkpoint/checkpoint_store.hpp"

#include <sys/stat.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "src/base/log.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

namespace fs = std::filesystem;

class CheckpointStoreTest : public testing::Test {
 protected:
  fs::path step_folder(std::int64_t step) const { return folder_ / "checkpoints" / step_folder_name(step); }

  TemporaryFolder folder_;
  Communicator self_ = Communicator::self("self");
};

TEST_F(CheckpointStoreTest, GivesBackWhatWasSaved) {
  CheckpointStore store(self_, folder_.path(), small_options());
  const SaveResult saved = save_alone(store, self_, 3, 1);
  ASSERT_TRUE(saved.committed) << saved.reason;
  EXPECT_EQ(saved.failures_in_a_row, 0);

  CheckpointStore again(self_, folder_.path(), small_options());
  const auto reader = again.find_latest();
  ASSERT_TRUE(reader.has_value());
  EXPECT_EQ(reader->step(), 3);
  EXPECT_EQ(reader->training_state(), small_contents(3).training_state);
  EXPECT_EQ(reader->file("config.json"), small_contents(3).files.at("config.json"));
  EXPECT_EQ(reader->manifest().loss, 2.5);
  EXPECT_TRUE(reader->manifest().read_back);
  expect_state(*reader, self_, small_state(), 1);
  reader->require_fingerprints(self_, owned_blocks(small_state(), 0, 1, Cut::columns, 1));
  expect_error([&] { reader->require_fingerprints(self_, owned_blocks(small_state(), 0, 1, Cut::rows, 2)); },
               ExitCode::internal, {"tensors in memory", "weights/model.embed_tokens.weight"});
}

TEST_F(CheckpointStoreTest, HoldsNothingInANewFolder) {
  CheckpointStore store(self_, folder_ / "deep/run", small_options());
  EXPECT_FALSE(store.find_latest().has_value());
  EXPECT_EQ(store.restore([](const CheckpointReader&) {}), std::nullopt);
  EXPECT_EQ(store.newest_step(), std::nullopt);
}

TEST_F(CheckpointStoreTest, TrainingStateKeepsEveryBitOfADouble) {
  CheckpointStore store(self_, folder_.path(), small_options());
  CheckpointContents contents = small_contents(1);
  contents.training_state = {{"third", 1.0 / 3}, {"tiny", 5e-324}, {"key", 0xfedcba9876543210ULL}};
  contents.loss = std::numeric_limits<double>::quiet_NaN();
  ASSERT_TRUE(store.save(contents, owned_blocks(small_state(), 0, 1, Cut::rows, 0)).committed);
  const auto reader = store.find_latest();
  EXPECT_EQ(reader->training_state()["third"].get<double>(), 1.0 / 3);
  EXPECT_EQ(reader->training_state()["tiny"].get<double>(), 5e-324);
  EXPECT_EQ(reader->training_state()["key"].get<std::uint64_t>(), 0xfedcba9876543210ULL);
  EXPECT_EQ(reader->manifest().loss, std::nullopt);
}

TEST_F(CheckpointStoreTest, ListsEveryTensorThatDoesNotFitInOneError) {
  CheckpointStore store(self_, folder_.path(), small_options());
  ASSERT_TRUE(save_alone(store, self_, 1, 0).committed);
  const auto reader = store.find_latest();
  std::vector<ExpectedTensor> expected;
  for (const TestTensor& tensor : small_state())
    expected.push_back({tensor.group, tensor.name, tensor.shape});
  reader->require_exactly(expected);
  expected[0].shape = {36, 12};
  expected[1].name = "not.there";
  expected[2].type = DataType::f64;
  expect_error(
      [&] { reader->require_exactly(expected); }, ExitCode::bad_input,
      {"weights/model.embed_tokens.weight has shape [37, 12], expected [36, 12]",
       "weights/not.there is missing", "weights/model.layers.0.input_layernorm.weight is F32, expected F64",
       "weights/model.layers.0.mlp.up_proj.weight is not expected"});
}

TEST_F(CheckpointStoreTest, KeepsTheNewestThePinnedAndTheBest) {
  CheckpointStore store(self_, folder_.path(), small_options(1, 2));
  ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
  ASSERT_TRUE(save_alone(store, self_, 2, 2).committed);
  store.mark_best(1, 1.5);
  write_bytes(folder_ / "checkpoints/PINNED", "# keep\nstep-0000000002\nnonsense\n");
  for (const std::int64_t step : {3, 4, 5}) ASSERT_TRUE(save_alone(store, self_, step, 0).committed);
  EXPECT_EQ(CheckpointCatalogue(folder_ / "checkpoints").committed(),
            (std::vector<std::int64_t>{1, 2, 4, 5}));
  ASSERT_TRUE(store.best().has_value());
  EXPECT_EQ(store.best()->step, 1);
  EXPECT_EQ(read_bytes(folder_ / "checkpoints/LATEST"), "step-0000000005\n");
}

TEST_F(CheckpointStoreTest, DoesNotWriteAStepTwice) {
  CheckpointStore store(self_, folder_.path(), small_options());
  ASSERT_TRUE(save_alone(store, self_, 7, 1).committed);
  EXPECT_FALSE(save_alone(store, self_, 7, 1).already_there == false);
  CheckpointStore again(self_, folder_.path(), small_options());
  again.restore([](const CheckpointReader&) {});
  EXPECT_TRUE(save_alone(again, self_, 7, 1).already_there);
}

TEST_F(CheckpointStoreTest, KeepsTheOneRestartedFromUntilANewerIsVerified) {
  {
    CheckpointStore store(self_, folder_.path(), small_options(1, 3));
    for (const std::int64_t step : {10, 20, 30}) ASSERT_TRUE(save_alone(store, self_, step, 0).committed);
  }
  CheckpointOptions trusting = small_options(1, 2);
  trusting.read_back = ReadBack::off;
  CheckpointStore store(self_, folder_.path(), trusting);
  EXPECT_EQ(store.restore([](const CheckpointReader&) {}), 30);
  for (const std::int64_t step : {40, 50, 60}) ASSERT_TRUE(save_alone(store, self_, step, 0).committed);
  const std::vector<std::int64_t> left = CheckpointCatalogue(folder_ / "checkpoints").committed();
  EXPECT_EQ(left, (std::vector<std::int64_t>{20, 30, 50, 60}));
}

TEST_F(CheckpointStoreTest, SetsAsideABranchThatWasGivenUp) {
  {
    CheckpointStore store(self_, folder_.path(), small_options(1, 3));
    for (const std::int64_t step : {10, 20, 30}) ASSERT_TRUE(save_alone(store, self_, step, 0).committed);
  }
  CheckpointStore store(self_, folder_.path(), small_options(1, 3));
  EXPECT_EQ(store.open(10).step(), 10);
  ASSERT_TRUE(save_alone(store, self_, 25, 5).committed);
  EXPECT_EQ(CheckpointCatalogue(folder_ / "checkpoints").committed(), (std::vector<std::int64_t>{10, 25}));
  EXPECT_TRUE(fs::exists(folder_ / "checkpoints/step-0000000020.superseded"));
  EXPECT_TRUE(fs::exists(folder_ / "checkpoints/step-0000000030.superseded"));
  CheckpointStore again(self_, folder_.path(), small_options());
  EXPECT_EQ(again.find_latest()->step(), 25);
}

TEST_F(CheckpointStoreTest, ANewRunInAnOldFolderIsNotOvertakenByTheOldOne) {
  {
    CheckpointStore store(self_, folder_.path(), small_options());
    ASSERT_TRUE(save_alone(store, self_, 10, 0).committed);
  }
  CheckpointStore store(self_, folder_.path(), small_options());
  ASSERT_TRUE(save_alone(store, self_, 10, 1).committed);
  CheckpointStore again(self_, folder_.path(), small_options());
  expect_state(*again.find_latest(), self_, small_state(), 1);
}

TEST_F(CheckpointStoreTest, RefusesBlocksThatDoNotMakeWholeTensors) {
  CheckpointStore store(self_, folder_.path(), small_options());
  std::vector<LocalBlock> blocks = owned_blocks(small_state(), 0, 1, Cut::rows, 0);
  blocks.push_back(blocks[2]);
  expect_error([&] { store.save(small_contents(1), blocks); }, ExitCode::internal,
               {"weights/model.layers.0.input_layernorm.weight", "covered twice"});
  blocks.pop_back();
  blocks[0].extent[0] -= 1;
  expect_error([&] { store.save(small_contents(1), blocks); }, ExitCode::internal,
               {"weights/model.embed_tokens.weight: 432 of 444 elements are covered"});
  EXPECT_FALSE(store.find_latest().has_value());
  EXPECT_TRUE(fs::is_empty(folder_ / "checkpoints"));
}

TEST_F(CheckpointStoreTest, RefusesOptionsOutOfRange) {
  CheckpointOptions options = small_options();
  options.keep = 1;
  expect_error([&] { CheckpointStore(self_, folder_.path(), options); }, ExitCode::usage, {"at least 2"});
  options = small_options(0);
  expect_error([&] { CheckpointStore(self_, folder_.path(), options); }, ExitCode::usage, {"writers"});
}

TEST_F(CheckpointStoreTest, StopsRestartingWithoutProgress) {
  for (int start = 0; start < 3; ++start) {
    CheckpointStore store(self_, folder_.path(), small_options());
    store.begin_run(std::nullopt);
  }
  CheckpointStore store(self_, folder_.path(), small_options());
  expect_error([&] { store.begin_run(std::nullopt); }, ExitCode::internal, {"restart 3", "RESTARTS"});
}

TEST_F(CheckpointStoreTest, HonoursUmaskAndSetgid) {
  const mode_t former = ::umask(027);
  fs::create_directory(folder_ / "run");
  ASSERT_EQ(::chmod((folder_ / "run").c_str(), 02770), 0);
  {
    CheckpointStore store(self_, folder_ / "run", small_options());
    ASSERT_TRUE(save_alone(store, self_, 1, 0).committed);
  }
  ::umask(former);
  struct stat status {};
  const fs::path step = folder_ / "run/checkpoints/step-0000000001";
  ASSERT_EQ(::stat(step.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 02750U);
  for (const char* name : {"part_0000.h5", "view.h5", "MANIFEST.json", "files/config.json"}) {
    ASSERT_EQ(::stat((step / name).c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0640U) << name;
  }
}

TEST_F(CheckpointStoreTest, IsReadableByHdf5Tools) {
  if (std::system("h5dump --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "h5dump is not installed";
  CheckpointStore store(self_, folder_.path(), small_options(3));
  ASSERT_TRUE(save_alone(store, self_, 1, 0).committed);
  const std::string dump = (folder_ / "dump.txt").string();
  const auto dumped = [&](const std::string& arguments) {
    const std::string command =
        "cd " + step_folder(1).string() + " && h5dump " + arguments + " > " + dump + " 2>&1";
    EXPECT_EQ(std::system(command.c_str()), 0) << read_bytes(dump);
    return read_bytes(dump);
  };
  EXPECT_THAT(dumped("-H part_0002.h5"), testing::HasSubstr("H5T_IEEE_F32LE"));
  EXPECT_THAT(dumped("-d /master/wide.values view.h5"), testing::HasSubstr("( 11, 13 )"));
  // The virtual data set shows the values of all parts.
  dumped("-d /weights/three.dims -y -w 1 -o " + (folder_ / "values.txt").string() + " view.h5");
  std::istringstream values(read_bytes(folder_ / "values.txt"));
  const TestTensor tensor{"weights", "three.dims", {3, 5, 7}, DataType::f32};
  std::int64_t count = 0;
  for (std::string value; std::getline(values, value, ',');) {
    if (value.find_first_of("0123456789") == std::string::npos) continue;
    EXPECT_EQ(std::stod(value), value_at(tensor, count, 0));
    ++count;
  }
  EXPECT_EQ(count, 105);
}

}  // namespace
}  // namespace charter::test
