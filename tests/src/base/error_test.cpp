// SPDX-License-Identifier: Apache-2.0
// Errors with exit codes, and arithmetic on sizes that comes from outside.
#include "src/base/error.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/checked_math.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

template <class Callable>
Error caught(Callable&& callable) {
  try {
    callable();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {ExitCode::done, ""};
}

TEST(Error, CarriesItsCodeAndMessage) {
  const Error error = caught([] { fail(ExitCode::cannot_write, "a.h5: disk full"); });
  EXPECT_EQ(error.code(), ExitCode::cannot_write);
  EXPECT_STREQ(error.what(), "a.h5: disk full");
}

TEST(Error, ABrokenInvariantNamesTheCallSite) {
  EXPECT_NO_THROW(require(true, "two is even"));
  const Error error = caught([] { require(false, "three is even"); });
  EXPECT_EQ(error.code(), ExitCode::internal);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("three is even"), HasSubstr("(tests/src/base/error_test.cpp:")));
}

TEST(Error, ExitCodesHaveTheNumbersThatJobScriptsKnow) {
  EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::usage), 64);
  EXPECT_EQ(static_cast<int>(ExitCode::bad_input), 65);
  EXPECT_EQ(static_cast<int>(ExitCode::missing_input), 66);
  EXPECT_EQ(static_cast<int>(ExitCode::device_unfit), 69);
  EXPECT_EQ(static_cast<int>(ExitCode::internal), 70);
  EXPECT_EQ(static_cast<int>(ExitCode::out_of_memory), 71);
  EXPECT_EQ(static_cast<int>(ExitCode::cannot_write), 73);
  EXPECT_EQ(static_cast<int>(ExitCode::io_error), 74);
  EXPECT_EQ(static_cast<int>(ExitCode::requeue), 75);
  EXPECT_EQ(static_cast<int>(ExitCode::numerical), 76);
  EXPECT_EQ(static_cast<int>(ExitCode::configuration), 78);
  EXPECT_EQ(static_cast<int>(ExitCode::hang), 79);
}

TEST(CheckedMath, GivesExactResultsUpToTheLimit) {
  EXPECT_EQ(checked_mul(3037000499, 3037000499, "x"), 9223372030926249001);
  EXPECT_EQ(checked_mul(largest, 1, "x"), largest);
  EXPECT_EQ(checked_mul(largest, 0, "x"), 0);
  EXPECT_EQ(checked_add(largest - 1, 1, "x"), largest);
  EXPECT_EQ(checked_product(std::vector<std::int64_t>{2, 3, 4}, "x"), 24);
  EXPECT_EQ(checked_product({}, "x"), 1);
}

TEST(CheckedMath, RefusesWhatDoesNotFitOrIsNegative) {
  EXPECT_THROW(checked_mul(3037000500, 3037000500, "x"), Error);
  EXPECT_THROW(checked_mul(largest, 2, "x"), Error);
  EXPECT_THROW(checked_mul(-1, 2, "x"), Error);
  EXPECT_THROW(checked_mul(2, -1, "x"), Error);
  EXPECT_THROW(checked_mul(-1, -1, "x"), Error);
  EXPECT_THROW(checked_mul(smallest, 0, "x"), Error);
  EXPECT_THROW(checked_add(largest, 1, "x"), Error);
  EXPECT_THROW(checked_add(-1, 5, "x"), Error);
  EXPECT_THROW(checked_add(5, -1, "x"), Error);
  EXPECT_THROW(checked_product(std::vector<std::int64_t>{1LL << 32, 1LL << 31}, "x"), Error);
  EXPECT_THROW(checked_product(std::vector<std::int64_t>{largest, largest, 0}, "x"), Error);
}

TEST(CheckedMath, SaysWhatAndWithWhichCode) {
  const Error error = caught([] { checked_mul(largest, 2, "header length", ExitCode::usage); });
  EXPECT_EQ(error.code(), ExitCode::usage);
  EXPECT_THAT(error.what(), AllOf(HasSubstr("header length"), HasSubstr("9223372036854775807 x 2")));
  EXPECT_EQ(caught([] { checked_add(largest, 1, "x"); }).code(), ExitCode::bad_input);
}

}  // namespace
}  // namespace charter
