// SPDX-License-Identifier: Apache-2.0
// What OptionSet writes: help, config.ini and the differences at a resume.
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/options/expect_error.hpp"
#include "tests/src/options/sample_options.hpp"

namespace charter {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using Arguments = std::vector<std::string>;

Arguments full_command_line() {
  return {"--model",        "m",
          "--data",         "a # b.jsonl",
          "--data",         " lead",
          "--data-weight",  "0.1",
          "--data-weight",  "0.3333333333333333",
          "--note",         "line one\nline \"two\"",
          "--micro-batch",  "4",
          "--global-batch", "262144t",
          "--lr",           "0.00030000000000000003",
          "--clip",         "0.1",
          "--seed",         "18446744073709551615",
          "--max-steps",    "60",
          "--schedule",     "linear",
          "--verify",       "--no-packing",
          "--hang-timeout", "90",
          "--memory-limit", "1.5Gi"};
}

ParseAction parse(SampleSet& sample, const Arguments& arguments, const std::string& config) {
  return sample.set.parse(arguments, [&](const std::filesystem::path&) { return config; });
}

TEST(ConfigIni, ReadsBackToTheSameValues) {
  SampleSet first;
  first.set.parse(full_command_line());
  const std::string ini = first.set.write_config_ini();
  SampleSet second;
  parse(second, {"--config", "config.ini"}, ini);
  EXPECT_EQ(second.set.write_config_ini(), ini);
  EXPECT_EQ(second.o.data, first.o.data);
  EXPECT_EQ(second.o.data_weight, first.o.data_weight);
  EXPECT_EQ(second.o.note, first.o.note);
  EXPECT_EQ(second.o.lr, first.o.lr);
  EXPECT_EQ(second.o.clip, first.o.clip);
  EXPECT_EQ(second.o.seed, first.o.seed);
  EXPECT_EQ(second.o.global_batch, first.o.global_batch);
  EXPECT_EQ(second.o.max_steps, first.o.max_steps);
  EXPECT_EQ(second.o.schedule, first.o.schedule);
  EXPECT_EQ(second.o.packing, first.o.packing);
  EXPECT_EQ(second.o.verify, first.o.verify);
  EXPECT_EQ(second.o.hang_timeout, first.o.hang_timeout);
  EXPECT_EQ(second.o.memory_limit, first.o.memory_limit);
}

TEST(ConfigIni, DefaultsReadBackToo) {
  SampleSet first;
  first.set.parse({"--model", "m"});
  SampleSet second;
  parse(second, {"--config", "config.ini"}, first.set.write_config_ini());
  EXPECT_EQ(second.set.write_config_ini(), first.set.write_config_ini());
  EXPECT_FALSE(second.o.max_steps.has_value());
}

TEST(ConfigIni, LeavesTransientOptionsOut) {
  SampleSet sample;
  sample.set.parse({"--model", "m", "--dry-run", "--stop-before", "2026-01-01T00:00Z"});
  EXPECT_THAT(sample.set.write_config_ini(), testing::Not(HasSubstr("dry-run")));
  EXPECT_THAT(sample.set.write_config_ini(), testing::Not(HasSubstr("stop-before")));
}

TEST(ResumeComparison, EqualSettingsHaveNoDifference) {
  SampleSet first;
  first.set.parse(full_command_line());
  SampleSet second;
  second.set.parse(full_command_line());
  EXPECT_THAT(second.set.compare_for_resume(first.set.write_config_ini(), "config.ini"), IsEmpty());
}

TEST(ResumeComparison, YieldsEveryDifferenceThatMattersWithBothValues) {
  SampleSet first;
  first.set.parse(full_command_line());
  SampleSet second;
  // Allowed to change: micro-batch, max-steps, policy.tp, hang-timeout; transient: dry-run.
  second.set.parse({"--model",        "other",
                    "--data",         "a # b.jsonl",
                    "--data",         "c",
                    "--data-weight",  "0.1",
                    "--data-weight",  "0.3333333333333333",
                    "--note",         "line one\nline \"two\"",
                    "--micro-batch",  "2",
                    "--global-batch", "262144",
                    "--lr",           "0.0003",
                    "--clip",         "0.1",
                    "--seed",         "18446744073709551615",
                    "--max-steps",    "90",
                    "--policy.tp",    "2",
                    "--no-packing",   "--memory-limit",
                    "1.5Gi",          "--dry-run",
                    "--run-dir",      "r"});
  const auto differences = second.set.compare_for_resume(first.set.write_config_ini(), "config.ini");
  std::ostringstream text;
  for (const OptionDifference& d : differences) text << d.name << ": " << d.then << " -> " << d.now << "\n";
  EXPECT_EQ(text.str(),
            "model: m -> other\n"
            "data: a # b.jsonl,  lead -> a # b.jsonl, c\n"
            "run-dir: (unset) -> r\n"
            "global-batch: 262144t -> 262144\n"
            "lr: 0.00030000000000000003 -> 0.0003\n"
            "schedule: linear -> cosine\n"
            "verify: true -> false\n");
}

TEST(ResumeComparison, AnotherSpellingOfTheSameValueIsNoDifference) {
  SampleSet sample;
  sample.set.parse({"--model", "m", "--lr", "0.001", "--memory-limit", "4Ki"});
  EXPECT_THAT(
      sample.set.compare_for_resume("model = m\nlr = 1e-3\nmemory-limit = 4096\nverify = off\n", "c.ini"),
      IsEmpty());
}

TEST(ResumeComparison, AnEarlierOptionThatIsGoneIsADifference) {
  SampleSet sample;
  sample.set.parse({"--model", "m"});
  const auto differences = sample.set.compare_for_resume("model = m\nwarp = 9\n", "c.ini");
  ASSERT_EQ(differences.size(), 1U);
  EXPECT_EQ(differences[0].name, "warp");
}

TEST(ResumeComparison, ABrokenEarlierConfigNamesItsPlace) {
  SampleSet sample;
  sample.set.parse({"--model", "m"});
  EXPECT_THAT(message_of([&] { sample.set.compare_for_resume("lr = x\n", "runs/a/config.ini"); },
                         ExitCode::bad_input),
              HasSubstr("runs/a/config.ini"));
}

TEST(OptionStates, CarryNameTextsAndWhetherTheyMayChange) {
  SampleSet sample;
  sample.set.parse({"--model", "m", "--data", "a", "--data", "b"});
  const std::vector<OptionState> states = sample.set.states();
  ASSERT_GE(states.size(), 6U);
  EXPECT_EQ(states[1].name, "data");
  EXPECT_THAT(states[1].texts, testing::ElementsAre("a", "b"));
  EXPECT_FALSE(states[1].may_change_on_resume);
  EXPECT_EQ(states[5].name, "micro-batch");
  EXPECT_TRUE(states[5].may_change_on_resume);
}

TEST(Help, StaysWithin100ColumnsAndNamesEveryOption) {
  const SampleSet sample;
  const std::string help = sample.set.help();
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100U) << line;
  for (const char* name :
       {"--model", "--data ", "--[no-]verify", "--policy.tp", "--config", "--help", "--version"}) {
    EXPECT_THAT(help, HasSubstr(name));
  }
}

TEST(Help, ShowsGroupsDefaultsUnitsAndLegalValues) {
  int count = 3;
  bool flag = true;
  std::vector<std::string> files;
  OptionSet set("tool", "Does one thing.");
  set.group("Work");
  set.add("count", count, "how often").range(1, 9).unit("times");
  set.add("flag", flag, "whether");
  set.add("file", files, "what to read").value_name("FILE").positional();
  Duration wait{90};
  set.add("wait", wait, "how long");
  EXPECT_EQ(set.help(),
            "tool: Does one thing.\n"
            "\n"
            "Usage: tool [options] FILE...\n"
            "\n"
            "Work:\n"
            "  --count N              how often (default 3 times; 1 to 9)\n"
            "  --[no-]flag            whether (default on)\n"
            "  --file FILE            what to read (unset by default; repeatable)\n"
            "  --wait TIME            how long (default 90s)\n"
            "\n"
            "General:\n"
            "  --config FILE          read options from an INI file; the command line wins\n"
            "  --help                 show this text\n"
            "  --version              show the version\n"
            "\n"
            "Values:\n"
            "  TIME     90, 90s, 15m, 1.5h, 1h30m or 2d\n");
}

}  // namespace
}  // namespace charter
