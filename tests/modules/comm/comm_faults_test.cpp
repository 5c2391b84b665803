// SPDX-License-Identifier: Apache-2.0
// Starts programs that fail on several ranks, and checks that they end: with the right exit code, in time,
// with one message that names the culprit.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/base/json.hpp"
#include "tests/support/job_status.hpp"
#include "tests/support/time_scale.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

struct Outcome {
  int status = -1;
  std::string output;
  double seconds = 0.0;
};

Outcome run_command(const std::string& command) {
  Outcome outcome;
  const auto begin = std::chrono::steady_clock::now();
  std::FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> block{};
  while (std::fgets(block.data(), static_cast<int>(block.size()), pipe) != nullptr)
    outcome.output += block.data();
  const int status = ::pclose(pipe);
  outcome.status = test::job_status(status, outcome.output);
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return outcome;
}

Outcome run_ranks(int ranks, const std::string& arguments) {
  return run_command(std::string(CHARTER_MPIRUN) + " " + std::to_string(ranks) + " " + CHARTER_FAULT_PROGRAM +
                     " " + arguments);
}

// Hydra (MPICH) kills the ranks that are left when the first one ends, and passes that signal on as its code.
int hang_status(const Outcome& outcome) {
  const bool by_hydra =
      outcome.output.find("BAD TERMINATION OF ONE OF YOUR APPLICATION") != std::string::npos;
  return by_hydra ? SIGKILL : 79;
}

int occurrences(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

class HangFolder : public testing::Test {
 protected:
  HangFolder()
      : path_(std::filesystem::temp_directory_path() / ("charter-hang-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
    // What an earlier run left behind must not count.
    std::ofstream(path_ / "hang.0.json") << R"({"job": "an earlier one"})";
    std::ofstream(path_ / "hang.earlier.flag") << "";
    std::ofstream(path_ / "hang.suspects") << "0 an-earlier-one\n";
  }
  void TearDown() override { std::filesystem::remove_all(path_); }
  Json dump_of(int rank) const {
    std::ifstream file(path_ / ("hang." + std::to_string(rank) + ".json"));
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return parse_json(text, "dump");
  }
  std::string suspects() const {
    std::ifstream file(path_ / "hang.suspects");
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  const std::filesystem::path path_;
};

TEST_F(HangFolder, ASkippedCollectiveEndsWith79AndNamesRankAndCall) {
  const Outcome outcome = run_ranks(3, "skip " + path_.string());
  EXPECT_EQ(outcome.status, hang_status(outcome)) << outcome.output;
  EXPECT_LT(outcome.seconds, 20.0 * test::time_scale());
  EXPECT_EQ(occurrences(outcome.output, "hang: waited"), 1) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("ranks 0, 1 wait in all_reduce of 16 x f32"));
  EXPECT_THAT(outcome.output, HasSubstr("rank 2 is behind"));
  EXPECT_THAT(outcome.output, HasSubstr("in phase 'wandering'"));
  EXPECT_EQ(suspects(), "2 node1\n");
  for (int rank = 0; rank < 3; ++rank) {
    const Json dump = dump_of(rank);
    EXPECT_EQ(dump.at("world_rank"), rank);
    EXPECT_EQ(dump.at("step"), 7);
    const Json& last = dump.at("calls").back();
    EXPECT_EQ(last.at("operation"), rank == 2 ? "broadcast" : "all_reduce");
    EXPECT_EQ(last.at("open"), rank != 2);
    EXPECT_THAT(last.at("where").get<std::string>(), HasSubstr("fault_program.cpp:"));
  }
}

TEST_F(HangFolder, ARankThatLeavesEarlyEndsWith79) {
  const Outcome outcome = run_ranks(3, "leave " + path_.string());
  EXPECT_EQ(outcome.status, hang_status(outcome)) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("barrier"));
  EXPECT_THAT(outcome.output, HasSubstr("finalize"));
  EXPECT_EQ(suspects(), "") << "all wait for each other, and the earlier file is gone";
}

TEST_F(HangFolder, SigquitWritesTheCallsOfARankThatWaitsAndTheRunGoesOn) {
  const Outcome outcome = run_ranks(3, "quit " + path_.string());
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(occurrences(outcome.output, "SIGQUIT: has waited"), 2) << outcome.output;
  EXPECT_EQ(occurrences(outcome.output, "SIGQUIT: waits for no other rank"), 1) << outcome.output;
  for (int rank = 0; rank < 3; ++rank) {
    const Json dump = dump_of(rank);
    EXPECT_EQ(dump.at("reason"), "asked for by SIGQUIT");
    EXPECT_EQ(dump.at("world_rank"), rank);
    EXPECT_EQ(dump.at("calls").back().at("operation"), "barrier");
    EXPECT_EQ(dump.at("calls").back().at("open"), rank != 2);
  }
}

TEST_F(HangFolder, WhatSigquitWroteIsNotTakenForADumpOfTheHang) {
  const Outcome outcome = run_ranks(3, "quit-and-hang " + path_.string());
  EXPECT_EQ(outcome.status, hang_status(outcome)) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("ranks 0, 1 wait in all_reduce"));
  EXPECT_THAT(outcome.output, HasSubstr("rank 2 is behind"));
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_NE(dump_of(rank).at("reason"), "asked for by SIGQUIT") << rank;
  }
}

TEST(CommFaults, AWaitWithoutAFolderStillEndsWith79) {
  const Outcome outcome = run_ranks(2, "nobody");
  EXPECT_EQ(outcome.status, hang_status(outcome)) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("in receive number 1"));
}

TEST(CommFaults, AnAgreedErrorIsPrintedOnceAndKeepsItsCode) {
  const Outcome outcome = run_ranks(3, "together");
  EXPECT_EQ(outcome.status, 66) << outcome.output;
  EXPECT_EQ(occurrences(outcome.output, "rank 1 of 3: opening the model: model.h5: no such file"), 1)
      << outcome.output;
  EXPECT_LT(outcome.seconds, 20.0 * test::time_scale());
}

TEST(CommFaults, AnErrorOnOneRankAbortsTheJobWithItsCode) {
  const Outcome outcome = run_ranks(3, "alone");
  EXPECT_EQ(outcome.status, 73) << outcome.output;
  EXPECT_EQ(occurrences(outcome.output, "out.h5: the disk is full"), 1) << outcome.output;
}

TEST(CommFaults, ARequestInFlightThatNobodyJoinsAbortsWithTheCause) {
  const Outcome outcome = run_ranks(2, "in-flight");
  EXPECT_EQ(outcome.status, 74) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("data.jsonl: read error"));
}

TEST(CommFaults, AnErrorPastTheSessionAbortsWithTheNotedCode) {
  const Outcome outcome = run_ranks(2, "unwind");
  EXPECT_EQ(outcome.status, 70) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("the root is a rank of the group"));
}

TEST(CommFaults, AnOrdinaryEndIsQuiet) {
  const Outcome outcome = run_ranks(3, "well");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(run_ranks(2, "requeue").status, 75);
}

TEST(CommFaults, ALonelyRankOfAForeignLauncherIsRefused) {
  const std::string program = CHARTER_FAULT_PROGRAM;
  const Outcome refused = run_command("PMI_SIZE=4 PMI_RANK=2 " + program + " well");
  EXPECT_EQ(refused.status, 78) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("PMI_SIZE=4"));
  EXPECT_EQ(run_command(program + " well").status, 0) << "one process without a launcher runs";
}

}  // namespace
}  // namespace charter
