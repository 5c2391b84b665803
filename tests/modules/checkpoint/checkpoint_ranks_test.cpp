// SPDX-License-Identifier: Apache-2.0
// Checkpoints over several ranks: every way of cutting, every number of writers, read again by other numbers
// of ranks; and one rank failing in each phase.
#include <csignal>

#include <fmt/format.h>
#include <sys/resource.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/model_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"
#include "tests/support/rank_test.hpp"

namespace charter::test {
namespace {

namespace fs = std::filesystem;

std::vector<LocalBlock> my_blocks(const Communicator& ranks, Cut cut, int salt) {
  return owned_blocks(small_state(), ranks.rank(), ranks.size(), cut, salt);
}

// How a message begins that blames this rank; where there is one only, it need not name it.
std::string named(int rank) {
  if (world().size() == 1) return "";
  return fmt::format("rank {} of {}: ", rank, world().size());
}

TEST(CheckpointRanks, EveryCutAndEveryNumberOfWritersGivesTheSameState) {
  const SharedFolder folder("checkpoint-cuts");
  int salt = 0;
  std::string fingerprint;
  for (const int writers : {1, 2, 3, 7}) {
    for (const Cut cut : all_cuts) {
      const fs::path run = folder.path() / std::to_string(++salt);
      CheckpointStore store(world(), run, small_options(writers));
      const SaveResult saved = store.save(small_contents(5), my_blocks(world(), cut, 3));
      EXPECT_TRUE(saved.committed) << saved.reason;
      CheckpointStore again(world(), run, small_options());
      const auto reader = again.find_latest();
      EXPECT_TRUE(reader.has_value());
      if (!reader) continue;
      EXPECT_EQ(reader->manifest().parts.size(), static_cast<std::size_t>(writers));
      expect_state(*reader, world(), small_state(), 3);
      reader->require_fingerprints(world(), my_blocks(world(), Cut::rows, 3));
      // The fingerprint of each tensor is that of the values, however they were cut and by whoever written.
      std::string all;
      for (const StoredTensor& tensor : reader->tensors()) all += tensor.fingerprint.hex();
      if (fingerprint.empty()) fingerprint = all;
      EXPECT_EQ(all, fingerprint);
    }
  }
}

TEST(CheckpointRanks, AnotherNumberOfRanksReadsAndContinues) {
  const SharedFolder folder("checkpoint-reshard");
  {
    CheckpointStore store(world(), folder.path(), small_options(2));
    EXPECT_TRUE(store.save(small_contents(1), my_blocks(world(), Cut::flat_ranges, 1)).committed);
  }
  // Groups of 1, then the rest: each group is a job of its own with its own number of ranks, one after the
  // other.
  for (int turn = 0; turn < 2; ++turn) {
    const bool mine = (world().rank() == 0) == (turn == 0);
    const Communicator part = world().split(mine ? 0 : 1, world().rank(), "part");
    if (mine) {
      CheckpointStore store(part, folder.path(), small_options(3));
      const std::int64_t step = turn + 1;
      const auto restored = store.restore([&](const CheckpointReader& reader) {
        expect_state(reader, part, small_state(), static_cast<int>(step));
      });
      EXPECT_EQ(restored, step);
      EXPECT_TRUE(
          store.save(small_contents(step + 1), my_blocks(part, Cut::columns, static_cast<int>(step) + 1))
              .committed);
    }
    world().barrier();
    if (world().size() == 1) break;
  }
  CheckpointStore store(world(), folder.path(), small_options());
  EXPECT_EQ(store.find_latest()->step(), world().size() == 1 ? 2 : 3);
}

TEST(CheckpointRanks, SeveralBlocksOfManyPiecesPassThroughOneWriter) {
  const SharedFolder folder("checkpoint-large");
  // 3 MiB in blocks of 64 KiB, so that each rank sends many pieces.
  const std::vector<TestTensor> state = {{"weights", "big", {768, 1024}, DataType::f32}};
  CheckpointOptions options;
  options.block_bytes = 64 << 10;
  CheckpointStore store(world(), folder.path(), options);
  const SaveResult saved =
      store.save(small_contents(1), owned_blocks(state, world().rank(), world().size(), Cut::columns, 2));
  EXPECT_TRUE(saved.committed) << saved.reason;
  EXPECT_EQ(saved.bytes, 768 * 1024 * 4);
  const auto reader = store.find_latest();
  expect_state(*reader, world(), state, 2);
}

// One rank cannot give its values.
TEST(CheckpointRanks, AReadThatThrowsOnOneRankFailsTheSaveOnAll) {
  const SharedFolder folder("checkpoint-read-throws");
  CheckpointStore store(world(), folder.path(), small_options(2));
  EXPECT_TRUE(store.save(small_contents(1), my_blocks(world(), Cut::rows, 1)).committed);
  for (int failing = 0; failing < world().size(); ++failing) {
    std::vector<LocalBlock> blocks = my_blocks(world(), Cut::rows, 2);
    if (world().rank() == failing) {
      blocks[4].read = [](std::int64_t, std::span<std::byte>) {
        fail(ExitCode::io_error, "device read failed");
      };
    }
    const SaveResult result = store.save(small_contents(2), blocks);
    EXPECT_FALSE(result.committed);
    EXPECT_THAT(result.reason,
                testing::AllOf(testing::HasSubstr("device read failed"), testing::HasSubstr(named(failing))));
    EXPECT_EQ(result.failures_in_a_row, failing + 1);
  }
  EXPECT_EQ(store.find_latest()->step(), 1);
}

// One rank's files may not grow: its part, or rank 0's manifest and view, cannot be written.
TEST(CheckpointRanks, AWriterThatCannotWriteFailsTheSaveOnAllAndNobodyHangs) {
  const SharedFolder folder("checkpoint-fsize");
  CheckpointStore store(world(), folder.path(), small_options(world().size()));
  EXPECT_TRUE(store.save(small_contents(1), my_blocks(world(), Cut::rows, 1)).committed);
  std::signal(SIGXFSZ, SIG_IGN);  // an error, as programs arrange it
  rlimit former{};
  ::getrlimit(RLIMIT_FSIZE, &former);
  int failures = 0;
  for (int failing = 0; failing < world().size(); ++failing) {
    for (const rlim_t bytes : {rlim_t{100}, rlim_t{3000}}) {
      if (world().rank() == failing) {
        const rlimit limit{bytes, former.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
      }
      const SaveResult result = store.save(small_contents(2), my_blocks(world(), Cut::rows, 2));
      ::setrlimit(RLIMIT_FSIZE, &former);
      EXPECT_FALSE(result.committed);
      EXPECT_THAT(result.reason, testing::HasSubstr(named(failing)));
      EXPECT_EQ(result.failures_in_a_row, ++failures);
    }
  }
  EXPECT_TRUE(store.save(small_contents(3), my_blocks(world(), Cut::rows, 3)).committed);
  EXPECT_EQ(store.find_latest()->step(), 3);
  EXPECT_EQ(CheckpointCatalogue(folder.path() / "checkpoints").committed(),
            (std::vector<std::int64_t>{1, 3}));
}

TEST(CheckpointRanks, BlocksThatOverlapBetweenRanksAreRefusedOnAll) {
  const SharedFolder folder("checkpoint-overlap");
  CheckpointStore store(world(), folder.path(), small_options());
  std::vector<LocalBlock> blocks = my_blocks(world(), Cut::rows, 1);
  if (world().rank() == world().size() - 1)
    blocks.push_back(owned_blocks(small_state(), 0, world().size(), Cut::rows, 1)[0]);
  expect_error([&] { store.save(small_contents(1), blocks); }, ExitCode::internal,
               {"weights/model.embed_tokens.weight", "covered twice"});
  EXPECT_FALSE(store.find_latest().has_value());
}

TEST(CheckpointRanks, DamageFoundByOneRankMakesAllFallBackTogether) {
  const SharedFolder folder("checkpoint-damage");
  CheckpointStore store(world(), folder.path(), small_options(world().size()));
  for (const std::int64_t step : {1, 2}) {
    EXPECT_TRUE(
        store.save(small_contents(step), my_blocks(world(), Cut::rows, static_cast<int>(step))).committed);
  }
  // The last float of the scalar's value lies in the last part.
  if (world().rank() == 0) {
    const fs::path part = folder.path() / "checkpoints/step-0000000002" / part_file_name(world().size() - 1);
    const TestTensor norm = small_state()[2];
    const auto value = static_cast<float>(value_at(norm, norm.shape[0] - 1, 2));
    const std::string bytes = read_bytes(part);
    const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
    EXPECT_NE(at, std::string::npos);
    flip_bit(part, static_cast<std::int64_t>(at), 4);
  }
  world().barrier();
  int calls = 0;
  const auto restored = store.restore([&](const CheckpointReader& reader) {
    ++calls;
    expect_state(reader, world(), small_state(), static_cast<int>(reader.step()));
  });
  EXPECT_EQ(restored, 1);
  EXPECT_EQ(calls, 2);
}

TEST(CheckpointRanks, AConsumerThatThrowsOnOneRankStopsAll) {
  const SharedFolder folder("checkpoint-consumer");
  CheckpointStore store(world(), folder.path(), small_options());
  EXPECT_TRUE(store.save(small_contents(1), my_blocks(world(), Cut::rows, 1)).committed);
  const auto reader = store.find_latest();
  const int failing = world().size() - 1;
  const std::string who = named(failing);
  expect_error(
      [&] {
        reader->read_replicated(world(), "weights", "model.embed_tokens.weight",
                                [&](std::int64_t, std::span<const std::byte>) {
                                  if (world().rank() == failing) fail(ExitCode::out_of_memory, "no room");
                                });
      },
      ExitCode::out_of_memory, {"no room", who.c_str()});
}

TEST(CheckpointRanks, AModelIsWrittenByAllAndOpenedByAny) {
  const SharedFolder folder("checkpoint-model");
  write_model_folder(world(), folder.path() / "model", small_contents(0),
                     my_blocks(world(), Cut::whole_tensors, 6), small_options(2));
  const ModelSource model = open_model_or_checkpoint(folder.path() / "model");
  std::vector<float> out(12);
  model.tensors->read("model.layers.0.input_layernorm.weight", 0, out);
  EXPECT_EQ(out[11], static_cast<float>(value_at(small_state()[2], 11, 6)));
}

}  // namespace
}  // namespace charter::test
