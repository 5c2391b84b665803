// SPDX-License-Identifier: Apache-2.0
// Saving when the disk is full, files may not grow, an owner cannot give its values, or the process is
// killed: the checkpoint before stays whole, the failure is told, nothing is left lying about.
#include <csignal>

#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

namespace fs = std::filesystem;

// Files of this process may not grow beyond `bytes` while it lives: an error, as programs arrange it.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &former_);
    const rlimit limit{bytes, former_.rlim_max};
    std::signal(SIGXFSZ, SIG_IGN);
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &former_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit former_{};
};

class CheckpointFaultTest : public testing::Test {
 protected:
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_ / "checkpoints"))
      found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
  void expect_step(std::int64_t step, int salt) {
    CheckpointStore store(self_, folder_.path(), small_options());
    const auto reader = store.find_latest();
    ASSERT_TRUE(reader.has_value());
    EXPECT_EQ(reader->step(), step);
    expect_state(*reader, self_, small_state(), salt);
  }

  TemporaryFolder folder_;
  Communicator self_ = Communicator::self("self");
};

TEST_F(CheckpointFaultTest, AFileThatMayNotGrowFailsTheSaveAtEverySize) {
  CheckpointStore store(self_, folder_.path(), small_options(2));
  ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
  const auto whole = static_cast<rlim_t>(fs::file_size(folder_ / "checkpoints/step-0000000001/part_0000.h5"));
  int failures = 0;
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  const auto open_before = open_files();
  // From "not even the smallest file" to one byte short of a part.
  for (const rlim_t limit :
       {rlim_t{10}, rlim_t{100}, rlim_t{1000}, whole / 4, whole / 2, whole * 9 / 10, whole - 1}) {
    SaveResult result;
    {
      const FileSizeLimit guard(limit);
      result = save_alone(store, self_, 2, 2);
    }
    EXPECT_FALSE(result.committed) << "limit " << limit;
    EXPECT_FALSE(result.reason.empty());
    EXPECT_EQ(result.failures_in_a_row, ++failures);
    EXPECT_EQ(names(), (std::vector<std::string>{"LATEST", "RESTARTS", "step-0000000001"}))
        << "limit " << limit;
  }
  EXPECT_EQ(open_files(), open_before) << "an open file would keep its space on the disk";
  // Training goes on; the next save works and clears the count.
  const SaveResult result = save_alone(store, self_, 3, 3);
  EXPECT_TRUE(result.committed) << result.reason;
  EXPECT_EQ(result.failures_in_a_row, 0);
  expect_step(3, 3);
}

TEST_F(CheckpointFaultTest, AFullDiskFailsTheSaveAndKeepsTheOneBefore) {
  const fs::path disk = folder_ / "disk";
  fs::create_directory(disk);
  if (::mount("tmpfs", disk.c_str(), "tmpfs", 0, "size=16m") != 0)
    GTEST_SKIP() << "mounting is not permitted here";
  {
    CheckpointOptions options = small_options();
    options.block_bytes = 64 << 10;
    CheckpointStore store(self_, disk, options);
    // 4 MiB in 64 blocks.
    const TestTensor tensor{"weights", "big", {1024, 1024}, DataType::f32};
    const auto save = [&](std::int64_t step) {
      return store.save(small_contents(step), owned_blocks({tensor}, 0, 1, Cut::rows, 0));
    };
    EXPECT_TRUE(save(1).committed);
    // Preflight refuses: not enough free for a whole checkpoint, both figures named.
    const auto fill = [&](std::int64_t leave) {
      write_bytes(disk / "ballast", "");
      const auto free = static_cast<std::int64_t>(fs::space(disk).available);
      write_bytes(disk / "ballast", std::string(static_cast<std::size_t>(free - leave), 'x'));
    };
    fill(3 << 20);
    SaveResult result = save(2);
    EXPECT_FALSE(result.committed);
    EXPECT_THAT(result.reason,
                testing::AllOf(testing::HasSubstr("are needed"), testing::HasSubstr("are free")));
    // The disk fills up behind preflight's back: while the tensor is read, something else takes the space.
    fs::remove(disk / "ballast");
    for (const std::int64_t leave : {0, 4096, 100'000, 1'000'000, 3'000'000}) {
      std::vector<LocalBlock> blocks = owned_blocks({tensor}, 0, 1, Cut::rows, 0);
      const auto read = blocks[0].read;
      bool filled = false;
      blocks[0].read = [&, read](std::int64_t first, std::span<std::byte> out) {
        if (!std::exchange(filled, true)) fill(leave);
        read(first, out);
      };
      result = store.save(small_contents(3), blocks);
      EXPECT_FALSE(result.committed) << leave;
      fs::remove(disk / "ballast");
      EXPECT_EQ(CheckpointCatalogue(disk / "checkpoints").committed(), (std::vector<std::int64_t>{1}))
          << leave;
    }
    EXPECT_TRUE(save(4).committed);
    EXPECT_EQ(store.find_latest()->step(), 4);
  }
  ::umount(disk.c_str());
}

// What was written is not what the file system kept: no call fails, only reading back tells.
TEST_F(CheckpointFaultTest, ValuesThatTheDiskDidNotKeepAreFoundByReadingBack) {
  std::vector<LocalBlock> blocks = owned_blocks(small_state(), 0, 1, Cut::rows, 1);
  bool flipped = false;
  const auto damage_first_tensor = [&] {
    const fs::path part = folder_ / "checkpoints/step-0000000001.tmp.job/part_0000.h5";
    const auto value = static_cast<float>(value_at(small_state()[0], 5, 1));
    const std::string bytes = read_bytes(part);
    const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
    if (at == std::string::npos) return;
    flip_bit(part, static_cast<std::int64_t>(at), 0);
    flipped = true;
  };
  CheckpointOptions options = small_options();
  options.job_id = "job";
  options.block_bytes = 64 << 10;
  CheckpointStore store(self_, folder_.path(), options);
  blocks.back().read = [&, read = blocks.back().read](std::int64_t first, std::span<std::byte> out) {
    damage_first_tensor();
    read(first, out);
  };
  const SaveResult result = store.save(small_contents(1), blocks);
  ASSERT_TRUE(flipped) << "the first tensor's values were not in the file yet";
  EXPECT_FALSE(result.committed);
  EXPECT_THAT(result.reason, testing::HasSubstr("changed on disk"));
}

TEST_F(CheckpointFaultTest, AnOwnerThatCannotGiveItsValuesFailsTheSave) {
  CheckpointStore store(self_, folder_.path(), small_options());
  ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
  std::vector<LocalBlock> blocks = owned_blocks(small_state(), 0, 1, Cut::rows, 2);
  blocks[3].read = [](std::int64_t, std::span<std::byte>) { throw std::bad_alloc(); };
  const SaveResult result = store.save(small_contents(2), blocks);
  EXPECT_FALSE(result.committed);
  expect_step(1, 1);
}

TEST_F(CheckpointFaultTest, AKillAtAnyMomentOfASaveLeavesTheOneBefore) {
  {
    CheckpointStore store(self_, folder_.path(), small_options(2, 2));
    ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
  }
  // Killed while the k-th block is read, and at random times later: in the writing, read-back, manifest,
  // rename, retention.
  int committed = 0;
  for (int trial = 0; trial < 16; ++trial) {
    const pid_t child = ::fork();
    if (child == 0) {
      CheckpointStore store(self_, folder_.path(), small_options(2, 2));
      store.restore([](const CheckpointReader&) {});
      std::vector<LocalBlock> blocks = owned_blocks(small_state(), 0, 1, Cut::rows, 2);
      if (trial < 6) {
        blocks[static_cast<std::size_t>(2 * trial)].read = [](std::int64_t, std::span<std::byte>) {
          ::raise(SIGKILL);
        };
      } else {
        blocks.back().read = [read = blocks.back().read, trial](std::int64_t first,
                                                                std::span<std::byte> out) {
          read(first, out);
          // A timer kills some milliseconds on.
          const itimerval soon{{0, 0}, {0, 1 + (trial - 6) * 12'000}};
          std::signal(SIGALRM, [](int) { ::raise(SIGKILL); });
          ::setitimer(ITIMER_REAL, &soon, nullptr);
        };
      }
      store.save(small_contents(2), blocks);
      ::raise(SIGKILL);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status));
    const bool is_there = fs::exists(folder_ / "checkpoints/step-0000000002");
    if (trial < 6) {
      EXPECT_FALSE(is_there);
    }
    committed += is_there ? 1 : 0;
    expect_step(is_there ? 2 : 1, is_there ? 2 : 1);
    for (const std::string& name : names()) {
      EXPECT_NE(state_of_folder(name), FolderState::in_flight) << "swept at the next start";
    }
    fs::remove_all(folder_ / "checkpoints/step-0000000002");
  }
  EXPECT_LT(committed, 16);
}

TEST_F(CheckpointFaultTest, AHalfDeletedCheckpointIsSweptAndNeverUsed) {
  CheckpointStore store(self_, folder_.path(), small_options());
  ASSERT_TRUE(save_alone(store, self_, 1, 1).committed);
  ASSERT_TRUE(save_alone(store, self_, 2, 2).committed);
  fs::rename(folder_ / "checkpoints/step-0000000002", folder_ / "checkpoints/.trash-step-0000000002");
  expect_step(1, 1);
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints/.trash-step-0000000002"));
}

TEST_F(CheckpointFaultTest, AFolderThatCannotBeMadeIsAnError) {
  write_bytes(folder_ / "run", "a file where the run folder should be");
  expect_error([&] { CheckpointStore(self_, folder_ / "run", small_options()); }, ExitCode::cannot_write,
               {"run/checkpoints"});
}

}  // namespace
}  // namespace charter::test
