// SPDX-License-Identifier: Apache-2.0
// --help and --version of every program: complete, held against the parser, and said once however many ranks
// there are; so is a wrong option.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apps/program_options.hpp"
#include "tests/apps/program_runner.hpp"

namespace charter::apps_test {
namespace {

using testing::HasSubstr;

// An option as the help shows it.
struct HelpEntry {
  std::string value_name;   // empty for one without a value
  std::string description;  // without the details
  std::string details;      // the last "(...)": default, unit, legal values
};

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// "  --[no-]verify   text" begins an entry, lines further in go on with it.
std::map<std::string, HelpEntry> read_help(const std::string& help) {
  std::map<std::string, HelpEntry> entries;
  std::string name;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t indent = line.find_first_not_of(' ');
    if (indent == 2 && line.compare(indent, 2, "--") == 0) {
      const std::size_t gap = line.find("  ", indent);
      std::istringstream head(line.substr(indent, gap - indent));
      head >> name;
      if (const auto no = name.find("[no-]"); no != std::string::npos) name.erase(no, 5);
      EXPECT_FALSE(entries.contains(name)) << name << " stands twice";
      head >> entries[name].value_name;
      line = gap == std::string::npos ? "" : line.substr(gap);
    } else if (indent == std::string::npos || indent < 10) {
      name.clear();  // a title
    }
    if (name.empty()) continue;
    const std::size_t text = line.find_first_not_of(' ');
    std::string& description = entries[name].description;
    if (text != std::string::npos) description += (description.empty() ? "" : " ") + line.substr(text);
    while (!description.empty() && description.back() == ' ') description.pop_back();
  }
  for (auto& [option, entry] : entries) {
    const std::size_t open = entry.description.rfind('(');
    if (open == std::string::npos || !entry.description.ends_with(")")) continue;
    entry.details = entry.description.substr(open + 1);
    entry.details.pop_back();
    entry.description.erase(open);
  }
  return entries;
}

bool has_digit(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// Values whose writing needs examples, which stand at the end of the help.
bool is_written_in_its_own_way(const std::string& value_name) {
  return value_name == "TIME" || value_name == "BYTES" || value_name == "MOMENT" || value_name == "N|Nt";
}

void expect_complete(const std::string& name, const HelpEntry& entry, const std::string& help) {
  EXPECT_GE(entry.description.size(), 8U) << name << " has no description: " << entry.description;
  const std::string& details = entry.details;
  EXPECT_TRUE(details.starts_with("required") || details.starts_with("default ") ||
              details.starts_with("unset by default"))
      << name << " says neither default nor required: " << entry.description << "(" << details << ")";
  if (entry.value_name.empty()) {
    EXPECT_TRUE(details == "default on" || details == "default off") << name << ": " << details;
  }
  const bool is_number = entry.value_name == "N" || entry.value_name == "X" || entry.value_name == "N|Nt" ||
                         entry.value_name == "TIME" || entry.value_name == "BYTES";
  if (is_number) {
    EXPECT_TRUE(details.find(" to ") != std::string::npos && has_digit(details))
        << name << " has no legal values: " << details;
  }
  if (is_written_in_its_own_way(entry.value_name)) {
    EXPECT_THAT(help, HasSubstr("\n  " + entry.value_name + " ")) << name << ": no examples";
  }
  // "(default f32; f32, bf16 or f16)": the default and at least itself as a choice.
  if (entry.value_name == "NAME") {
    EXPECT_THAT(details, HasSubstr("; ")) << name;
  }
}

TEST(Help, HasEveryOptionOfTheParserWithAllThatOneMustKnow) {
  for (const ProgramOptions& one : all_programs()) {
    SCOPED_TRACE(one.program + " " + one.command);
    const Finished shown = run(0, one.program, one.help_arguments());
    ASSERT_EQ(shown.exit_code, 0) << shown.output;
    const std::map<std::string, HelpEntry> entries = read_help(shown.output);
    for (const std::string& name : one.names) {
      ASSERT_TRUE(entries.contains(name)) << name << " is missing from --help";
      if (name != "--config" && name != "--help" && name != "--version")
        expect_complete(name, entries.at(name), shown.output);
    }
    EXPECT_EQ(entries.size(), one.names.size()) << "--help names an option that the parser has not";
    EXPECT_THAT(shown.output, HasSubstr("Usage: " + one.program));
  }
}

TEST(Help, NamesEveryProgramThatIsBuilt) {
  for (const auto& entry : std::filesystem::directory_iterator(program_folder())) {
    const std::string name = entry.path().filename().string();
    if (!std::filesystem::exists(std::filesystem::path(CHARTER_APPS_FOLDER) / (name + ".cpp"))) continue;
    EXPECT_TRUE(std::ranges::any_of(all_programs(), [&](const auto& one) { return one.program == name; }))
        << name << " has no place in program_options.cpp";
  }
}

TEST(Help, CommandsAreListed) {
  const Finished shown = run(0, "checkpoint_tool", {"--help"});
  EXPECT_EQ(shown.exit_code, 0) << shown.output;
  for (const ProgramOptions& one : all_programs()) {
    if (one.command.empty()) continue;
    EXPECT_THAT(shown.output, HasSubstr("\n  " + one.command + " "));
  }
}

// Programs, each once, with what makes them speak.
std::map<std::string, std::vector<std::string>> programs_and(const std::string& option) {
  std::map<std::string, std::vector<std::string>> programs;
  for (const ProgramOptions& one : all_programs()) programs[one.program] = {option};
  return programs;
}

TEST(Help, IsShownOnceOnAnyNumberOfRanks) {
  for (const auto& [program, arguments] : programs_and("--help")) {
    const Finished shown = run(4, program, arguments);
    EXPECT_EQ(shown.exit_code, 0) << shown.output;
    EXPECT_EQ(count_of(shown.output, "Usage: " + program), 1U) << shown.output;
  }
}

TEST(Version, IsShownOnceOnAnyNumberOfRanks) {
  for (const auto& [program, arguments] : programs_and("--version")) {
    const Finished shown = run(4, program, arguments);
    EXPECT_EQ(shown.exit_code, 0) << shown.output;
    EXPECT_EQ(count_of(shown.output, " (Charter)"), 1U) << shown.output;
  }
}

TEST(WrongOption, IsOneMessageOnAnyNumberOfRanks) {
  std::map<std::string, std::vector<std::string>> programs = programs_and("--frobnicate");
  programs["checkpoint_tool"] = {"list", "--frobnicate"};
  for (const auto& [program, arguments] : programs) {
    for (const bool with_help : {false, true}) {
      std::vector<std::string> all = arguments;
      if (with_help) all.emplace_back("--help");
      const Finished refused = run(4, program, all);
      EXPECT_EQ(refused.exit_code, 64) << program << "\n" << refused.output;
      EXPECT_EQ(count_of(refused.output, "unknown option --frobnicate"), 1U) << refused.output;
    }
  }
}

TEST(SeveralProcesses, AreRefusedByAProgramOfOneInOneMessage) {
  const Finished refused = run(4, "checkpoint_tool", {"list", "nowhere"});
  EXPECT_EQ(refused.exit_code, 78) << refused.output;
  EXPECT_EQ(count_of(refused.output, "this program is one process"), 1U) << refused.output;
}

}  // namespace
}  // namespace charter::apps_test
