// SPDX-License-Identifier: Apache-2.0
#include "src/base/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

TEST(Log, LinesCarryTimeStepRankAndSeverity) {
  const auto file =
      std::filesystem::temp_directory_path() / ("charter_log_" + std::to_string(::getpid()) + ".txt");
  set_log_identity({3, false});
  set_log_file(file);
  log_info("before the first step");
  set_log_step(12);
  log_warning("slow disk");
  log_error("disk full");
  set_log_step(-1);
  const std::string text = read_file(file);
  std::filesystem::remove(file);
  const std::string time =
      "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}[+-][0-9]{2}:[0-9]{2}";
  EXPECT_THAT(text, testing::ContainsRegex(time + " step - rank 3 info: before the first step\n"));
  EXPECT_THAT(text, testing::ContainsRegex(time + " step 12 rank 3 warning: slow disk\n"));
  EXPECT_THAT(text, testing::ContainsRegex(time + " step 12 rank 3 error: disk full\n"));
}

TEST(Log, ANameFromAFileCannotForgeALine) {
  const auto file =
      std::filesystem::temp_directory_path() / ("charter_log_forged_" + std::to_string(::getpid()) + ".txt");
  set_log_file(file);
  log_error("tensor a\n2026-01-01T00:00:00.000+00:00 step 1 rank 0 info: all is well\x1b[2J");
  const std::string text = read_file(file);
  std::filesystem::remove(file);
  EXPECT_THAT(text, testing::HasSubstr("tensor a\n  2026-01-01"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("\x1b")));
}

TEST(Log, AFileThatCannotBeOpenedIsNamed) {
  try {
    set_log_file("/proc/no/such/log.txt");
    FAIL() << "opened a file that cannot be";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_write);
    EXPECT_THAT(error.what(), testing::HasSubstr("/proc/no/such/log.txt"));
  }
}

}  // namespace
}  // namespace charter
