// SPDX-License-Identifier: Apache-2.0
#include "src/options/option_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/options/expect_error.hpp"
#include "tests/src/options/sample_options.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Arguments = std::vector<std::string>;

// Parses `arguments` with a.ini holding `config`; --model is added.
ParseAction parse(SampleSet& sample, Arguments arguments, const std::string& config = "") {
  arguments.insert(arguments.begin(), {"--model", "m"});
  if (!config.empty()) arguments.insert(arguments.end(), {"--config", "a.ini"});
  return sample.set.parse(arguments, [&](const std::filesystem::path&) { return config; });
}

std::string refusal(const Arguments& arguments, const std::string& config = "") {
  SampleSet sample;
  return message_of([&] { parse(sample, arguments, config); }, ExitCode::usage);
}

TEST(OptionSet, FillsFieldsOfEveryType) {
  SampleSet sample;
  const Arguments arguments = {"--data=a.jsonl", "--data",
                               "b.jsonl",        "--data-weight",
                               "0.25",           "--data-weight=0.75",
                               "--micro-batch",  "4",
                               "--global-batch", "500kt",
                               "--lr",           "3e-3",
                               "--clip",         "0.5",
                               "--seed",         "18446744073709551615",
                               "--policy.tp",    "3",
                               "--max-steps",    "60",
                               "--schedule",     "linear",
                               "--verify",       "--no-packing",
                               "--hang-timeout", "2h",
                               "--memory-limit", "4Gi",
                               "--stop-before",  "2026-01-01T00:00:00Z",
                               "--note",         "two words",
                               "--dry-run"};
  EXPECT_EQ(parse(sample, arguments), ParseAction::run);
  const SampleOptions& o = sample.o;
  EXPECT_EQ(o.model, "m");
  EXPECT_THAT(o.data, ElementsAre("a.jsonl", "b.jsonl"));
  EXPECT_THAT(o.data_weight, ElementsAre(0.25, 0.75));
  EXPECT_EQ(o.micro_batch, 4);
  EXPECT_EQ(o.global_batch, (BatchSize{500'000, BatchSize::Unit::tokens}));
  EXPECT_EQ(o.lr, 3e-3);
  EXPECT_EQ(o.clip, 0.5F);
  EXPECT_EQ(o.seed, 18446744073709551615ULL);
  EXPECT_EQ(o.policy_tp, 3);
  EXPECT_EQ(o.max_steps, 60);
  EXPECT_EQ(o.schedule, SampleSchedule::linear);
  EXPECT_TRUE(o.verify);
  EXPECT_FALSE(o.packing);
  EXPECT_EQ(o.hang_timeout.seconds, 7200);
  EXPECT_EQ(o.memory_limit.bytes, std::int64_t{4} << 30);
  ASSERT_TRUE(o.stop_before.has_value());
  EXPECT_EQ(o.stop_before->epoch_s, 1'767'225'600);
  EXPECT_EQ(o.note, "two words");
  EXPECT_TRUE(o.dry_run);
}

TEST(OptionSet, KeepsDefaultsAndKnowsWhatWasGiven) {
  SampleSet sample;
  parse(sample, {"--lr", "0.1"}, "seed = 7\n");
  EXPECT_EQ(sample.o.micro_batch, 1);
  EXPECT_FALSE(sample.o.max_steps.has_value());
  EXPECT_TRUE(sample.set.given("lr"));
  EXPECT_TRUE(sample.set.given("seed"));
  EXPECT_FALSE(sample.set.given("micro-batch"));
  EXPECT_THROW(sample.set.given("no-such-option"), Error);
}

TEST(OptionSet, TheCommandLineWinsOverTheConfig) {
  SampleSet sample;
  parse(sample, {"--lr", "0.1", "--data", "c", "--verify"},
        "lr = 0.2\nseed = 7\ndata = a\ndata = b\nverify = no\npacking = off\n[policy]\ntp = 8\n");
  EXPECT_EQ(sample.o.lr, 0.1);
  EXPECT_EQ(sample.o.seed, 7U);
  EXPECT_THAT(sample.o.data, ElementsAre("c"));
  EXPECT_TRUE(sample.o.verify);
  EXPECT_FALSE(sample.o.packing);
  EXPECT_EQ(sample.o.policy_tp, 8);
}

TEST(OptionSet, RepeatableOptionsWorkInTheConfig) {
  SampleSet sample;
  parse(sample, {}, "data = a\ndata = \"b # c\"\n");
  EXPECT_THAT(sample.o.data, ElementsAre("a", "b # c"));
}

TEST(OptionSet, UnknownNamesGetTheNearestOne) {
  EXPECT_THAT(refusal({"--micro_batch", "4"}),
              AllOf(HasSubstr("--micro_batch"), HasSubstr("did you mean --micro-batch?")));
  EXPECT_THAT(refusal({"--max-step=4"}), HasSubstr("did you mean --max-steps?"));
  EXPECT_THAT(refusal({"--no-verfy"}), HasSubstr("did you mean --no-verify?"));
  EXPECT_THAT(refusal({"--quantum-entanglement"}), HasSubstr("--help lists all options"));
  EXPECT_THAT(refusal({}, "seed = 1\nlearning = 2\n"),
              AllOf(HasSubstr("unknown option learning"), HasSubstr("a.ini:2")));
}

TEST(OptionSet, NamesAreNeverGuessedFromAPrefix) {
  EXPECT_THAT(refusal({"--micro", "4"}), HasSubstr("unknown option --micro "));
}

TEST(OptionSet, BadValuesNameOptionValueSourceAndLegalRange) {
  EXPECT_THAT(refusal({"--micro-batch", "0"}), AllOf(HasSubstr("--micro-batch"), HasSubstr("\"0\""),
                                                     HasSubstr("the command line"), HasSubstr("1 to 65536")));
  EXPECT_THAT(refusal({"--micro-batch", "-3"}), HasSubstr("too small"));
  EXPECT_THAT(refusal({"--micro-batch", "65537"}), HasSubstr("too large"));
  EXPECT_THAT(refusal({"--micro-batch", "99999999999999999999"}), HasSubstr("does not fit 64 bits"));
  EXPECT_THAT(refusal({"--micro-batch", "2.5"}), HasSubstr("not an integer"));
  EXPECT_THAT(refusal({"--policy.tp", "4294967297"}), HasSubstr("does not fit 32 bits"));
  EXPECT_THAT(refusal({"--lr", "0"}), HasSubstr("above 0, up to 10"));
  EXPECT_THAT(refusal({"--lr", "nan"}), HasSubstr("finite"));
  EXPECT_THAT(refusal({"--lr", "1e400"}), HasSubstr("out of the range"));
  EXPECT_THAT(refusal({"--lr", "-1e-3"}), HasSubstr("too small"));
  EXPECT_THAT(refusal({"--clip", "1e39"}), HasSubstr("32-bit"));
  EXPECT_THAT(refusal({"--seed", "-1"}), HasSubstr("from 0 on"));
  EXPECT_THAT(refusal({"--schedule", "cosin"}), HasSubstr("constant, linear or cosine"));
  EXPECT_THAT(refusal({"--hang-timeout", "0"}), HasSubstr("1s to 24h"));
  EXPECT_THAT(refusal({"--global-batch", "0t"}), HasSubstr("too small"));
  EXPECT_THAT(refusal({"--data-weight", "1", "--data-weight", "-1"}), HasSubstr("too small"));
  EXPECT_THAT(refusal({"--run-dir", ""}), HasSubstr("--run-dir"));
  EXPECT_THAT(refusal({"--note", "bell\a"}), HasSubstr("control character"));
  EXPECT_THAT(refusal({"--data", "caf\xe9.jsonl"}),
              AllOf(HasSubstr("--data"), HasSubstr("not UTF-8 at byte 3")));
  EXPECT_THAT(refusal({}, "note = caf\xe9\n"), AllOf(HasSubstr("a.ini:1"), HasSubstr("not UTF-8 at byte 3")));
  EXPECT_THAT(refusal({}, "\nverify = maybe\n"), AllOf(HasSubstr("a.ini:2"), HasSubstr("true nor false")));
}

TEST(OptionSet, AWrongConfigValueIsFoundEvenWhenOverridden) {
  EXPECT_THAT(refusal({"--lr", "0.1"}, "lr = much\n"), HasSubstr("a.ini:1"));
}

TEST(OptionSet, MissingAndSuperfluousValuesAreErrors) {
  EXPECT_THAT(refusal({"--lr"}), HasSubstr("--lr"));
  EXPECT_THAT(refusal({"--run-dir", "--verify"}), HasSubstr("--run-dir"));
  EXPECT_THAT(refusal({"--run-dir", "--no-such"}), HasSubstr("--run-dir"));
  EXPECT_THAT(refusal({"--run-dir="}), HasSubstr("is empty"));
  EXPECT_THAT(refusal({"--verify=yes"}), HasSubstr("--verify"));
  EXPECT_THAT(refusal({"stray"}), HasSubstr("stray"));
  EXPECT_THAT(refusal({"-lr", "1"}), HasSubstr("--lr"));
}

TEST(OptionSet, AnOptionIsGivenOncePerSource) {
  EXPECT_THAT(refusal({"--lr", "1", "--lr", "2"}), AllOf(HasSubstr("2 times"), HasSubstr("1, 2")));
  EXPECT_THAT(refusal({"--verify", "--no-verify"}), HasSubstr("2 times"));
  EXPECT_THAT(refusal({}, "lr = 1\nlr = 2\n"), AllOf(HasSubstr("2 times"), HasSubstr("a.ini:2")));
  EXPECT_THAT(refusal({"--config", "x.ini", "--config", "y.ini"}), HasSubstr("--config"));
}

TEST(OptionSet, MissingRequiredOptionsAreNamed) {
  SampleSet sample;
  const std::string message = message_of(
      [&] {
        sample.set.parse(Arguments{"--lr", "0.1"});
      },
      ExitCode::usage);
  EXPECT_THAT(message, AllOf(HasSubstr("--model"), HasSubstr("GGUF")));
}

TEST(OptionSet, HelpAndVersionComeBeforeEverythingElse) {
  SampleSet sample;
  EXPECT_EQ(sample.set.parse(Arguments{"--lr", "nan", "--help"}), ParseAction::show_help);
  EXPECT_EQ(sample.set.parse(Arguments{"--version"}), ParseAction::show_version);
  EXPECT_EQ(sample.o.lr, 1e-4);
  EXPECT_THAT(sample.set.version(), testing::MatchesRegex("sample_train [0-9.]+ \\(Charter\\)"));
}

TEST(OptionSet, PositionalOptionsTakeBareArguments) {
  std::filesystem::path from;
  std::vector<std::string> rest;
  bool force = false;
  const auto build = [&] {
    OptionSet set("copy", "Copies.");
    set.add("from", from, "source").required().positional();
    set.add("to", rest, "targets").positional();
    set.add("force", force, "overwrite");
    return set;
  };
  OptionSet set = build();
  set.parse({"a", "--force", "b", "c"});
  EXPECT_EQ(from, "a");
  EXPECT_THAT(rest, ElementsAre("b", "c"));
  EXPECT_TRUE(force);
  OptionSet other = build();
  EXPECT_THAT(message_of(
                  [&] {
                    other.parse(Arguments{"a", "-f"});
                  },
                  ExitCode::usage),
              HasSubstr("unknown option"));
}

TEST(OptionSet, SkipsTheProgramsNameInArgv) {
  SampleSet sample;
  const char* argv[] = {"sample_train", "--model", "m"};
  EXPECT_EQ(sample.set.parse(3, argv), ParseAction::run);
  EXPECT_EQ(sample.o.model, "m");
}

TEST(OptionSet, RefusesWithValueAndSource) {
  SampleSet sample;
  parse(sample, {"--max-steps", "60"});
  EXPECT_THAT(
      message_of([&] { sample.set.refuse("max-steps", "excludes --epochs"); }, ExitCode::usage),
      AllOf(HasSubstr("--max-steps \"60\""), HasSubstr("the command line"), HasSubstr("excludes --epochs")));
}

TEST(OptionSet, AConfigThatIsMissingIsSaidSo) {
  SampleSet sample;
  EXPECT_THAT(message_of(
                  [&] {
                    sample.set.parse(Arguments{"--config", "/no/such.ini"});
                  },
                  ExitCode::missing_input),
              HasSubstr("/no/such.ini"));
}

}  // namespace
}  // namespace charter
