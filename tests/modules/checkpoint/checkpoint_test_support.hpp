// SPDX-License-Identifier: Apache-2.0
// What the checkpoint tests share: a folder that goes away, a small state whose every element is a formula of
// its place, cut over ranks in the ways trainers do it, and checks that a reader gives exactly that state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "modules/checkpoint/checkpoint_store.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/error.hpp"
#include "tests/support/temporary_folder.hpp"

namespace charter::test {

struct TestTensor {
  std::string group;
  std::string name;
  std::vector<std::int64_t> shape;
  DataType type = DataType::f32;
};

// Matrices, vectors, a 3-d tensor, a scalar; three groups; odd sizes; one tensor of f64.
std::vector<TestTensor> small_state();

enum class Cut { whole_tensors, rows, columns, flat_ranges };
inline constexpr Cut all_cuts[] = {Cut::whole_tensors, Cut::rows, Cut::columns, Cut::flat_ranges};

// The blocks that `rank` of `ranks` owns when the state is cut so; `salt` makes another state of the same
// shapes.
std::vector<LocalBlock> owned_blocks(const std::vector<TestTensor>& state, int rank, int ranks, Cut cut,
                                     int salt);

// Element `index` of a tensor.
double value_at(const TestTensor& tensor, std::int64_t index, int salt);

CheckpointContents small_contents(std::int64_t step);

// Collective over `ranks`. Every tensor read in full, by shards and by ranges, equals the formula on all
// ranks.
void expect_state(const CheckpointReader& reader, const Communicator& ranks,
                  const std::vector<TestTensor>& state, int salt);

// Options for tests: blocks of 512 bytes, so that small tensors have several.
CheckpointOptions small_options(int writers = 1, int keep = 2);

// Saves small_state() from this process alone.
SaveResult save_alone(CheckpointStore& store, const Communicator& self, std::int64_t step, int salt);

// Runs `action`, which must throw an Error of `code` whose message contains every one of `parts`.
template <class Action>
void expect_error(const Action& action, ExitCode code, std::initializer_list<const char*> parts) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    for (const char* part : parts) EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

// A manifest's text whose body was edited, with the right checksum again.
std::string reseal(const std::string& text);

std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);
// Flips one bit of one byte in place.
void flip_bit(const std::filesystem::path& path, std::int64_t byte, int bit);

}  // namespace charter::test
