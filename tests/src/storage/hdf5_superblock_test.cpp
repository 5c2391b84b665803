// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hdf5_superblock.hpp"

#include "src/storage/hdf5_dataset.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

std::string written_file() {
  const TemporaryFolder folder;
  const Hdf5Library library;
  Hdf5File file = create_hdf5_file(folder / "a.h5");
  const std::vector<std::int64_t> extents = {4};
  const std::vector<std::int64_t> origin = {0};
  const std::vector<float> values(4, 1.0F);
  write_block<float>(create_contiguous_dataset(file.id(), "/t/w", DataType::f32, extents), origin, extents,
                     values);
  close_hdf5_file(std::move(file), folder / "a.h5");
  return read_bytes(folder / "a.h5");
}

std::string problem_of(const std::string& bytes) {
  return hdf5_superblock_problem(std::as_bytes(std::span(bytes)));
}

void expect_problem(const std::string& bytes, const std::string& says) {
  EXPECT_NE(problem_of(bytes).find(says), std::string::npos)
      << '"' << problem_of(bytes) << "\" not: " << says;
}

TEST(Hdf5Superblock, WhatCharterWroteHasNone) {
  EXPECT_EQ(problem_of(written_file()), "");
}

TEST(Hdf5Superblock, EachFieldThatIsNotOursIsNamed) {
  const std::string good = written_file();
  const auto with = [&](std::size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  expect_problem("", "not an HDF5 file");
  expect_problem(std::string(100, '\0'), "not an HDF5 file");
  expect_problem(std::string(512, '\0') + good, "not an HDF5 file");  // a user block before it
  expect_problem(good.substr(0, 20), "20 bytes are too few");
  for (const char version : {0, 1, 2, 4})
    expect_problem(with(8, version), "version " + std::to_string(version));
  expect_problem(with(9, 4), "addresses that Charter never writes");
  expect_problem(with(10, 4), "addresses that Charter never writes");
  expect_problem(with(12, 1), "addresses that Charter never writes");
  expect_problem(with(11, 1), "never closed");
  expect_problem(with(28, static_cast<char>(good[28] + 1)), "truncated or changed");
  expect_problem(good + "x", "truncated or changed");
  expect_problem(good.substr(0, good.size() - 1), "truncated or changed");
}

TEST(Hdf5Superblock, FilesOfOlderFormatsNeverReachTheLibrary) {
  const auto folder = shared_data / "bad/hdf5";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const Hdf5Library library;
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".h5") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++files;
    expect_error(ExitCode::bad_input, {entry.path().filename().string(), "superblock has version"},
                 [&] { open_hdf5_file(entry.path()); });
  }
  EXPECT_GE(files, 19);
}

}  // namespace
}  // namespace charter
