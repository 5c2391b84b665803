// SPDX-License-Identifier: Apache-2.0
#include "src/options/command_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/src/options/expect_error.hpp"

namespace charter {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class CommandSetTest : public testing::Test {
 protected:
  CommandSetTest() {
    OptionSet& list = set.add("list", "Lists things.");
    list.add("folder", folder, "where").required().positional().value_name("FOLDER");
    OptionSet& prune = set.add("prune", "Deletes things.");
    prune.add("folder", folder, "where").required().positional().value_name("FOLDER");
    prune.add("keep", keep, "how many stay").range(1, 9);
  }
  std::string refusal(const std::vector<std::string>& arguments) {
    return message_of([&] { set.parse(arguments); }, ExitCode::usage);
  }

  std::filesystem::path folder;
  std::int64_t keep = 3;
  CommandSet set{"tool", "Looks after things."};
};

TEST_F(CommandSetTest, TheFirstArgumentChoosesAndTheRestAreItsOptions) {
  const CommandSet::Choice choice = set.parse({"prune", "a/b", "--keep", "5"});
  EXPECT_EQ(choice.action, ParseAction::run);
  EXPECT_EQ(choice.command, "prune");
  EXPECT_EQ(folder, "a/b");
  EXPECT_EQ(keep, 5);
}

TEST_F(CommandSetTest, OptionsOfAnotherCommandAreUnknown) {
  EXPECT_THAT(refusal({"list", "a", "--keep", "5"}), HasSubstr("unknown option --keep"));
  EXPECT_EQ(keep, 3);
}

TEST_F(CommandSetTest, WrongCommandsAreNamed) {
  EXPECT_THAT(refusal({"lst", "a"}), AllOf(HasSubstr("\"lst\""), HasSubstr("did you mean list?")));
  EXPECT_THAT(refusal({"frobnicate"}), HasSubstr("tool --help lists all commands"));
  EXPECT_THAT(refusal({}), HasSubstr("the first argument must be a command; tool --help"));
  EXPECT_THAT(refusal({"--keep", "5"}), HasSubstr("must be a command, not --keep"));
  EXPECT_THAT(refusal({"list"}), HasSubstr("missing: --folder"));
}

TEST_F(CommandSetTest, HelpListsTheCommandsOrTheOptionsOfOne) {
  const CommandSet::Choice all = set.parse({"--help"});
  EXPECT_EQ(all.action, ParseAction::show_help);
  EXPECT_THAT(all.text, AllOf(HasSubstr("Usage: tool COMMAND [options]"), HasSubstr("  list   Lists things."),
                              HasSubstr("  prune  Deletes things."), Not(HasSubstr("--keep"))));
  const CommandSet::Choice one = set.parse({"prune", "--help"});
  EXPECT_EQ(one.action, ParseAction::show_help);
  EXPECT_THAT(one.text, AllOf(HasSubstr("Usage: tool prune [options] FOLDER"), HasSubstr("--keep N")));
  EXPECT_THAT(set.parse({"--version"}).text, HasSubstr("tool "));
}

}  // namespace
}  // namespace charter
