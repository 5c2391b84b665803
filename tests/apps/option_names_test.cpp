// SPDX-License-Identifier: Apache-2.0
// Every --word in the documentation and the job scripts is an option of a program of Charter's, or of another
// program that stands in the list below; and what follows a program's name in a command line is that
// program's own.
#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "tests/apps/program_options.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;

// Options of other programs, by the program.
const std::map<std::string, std::set<std::string>>& foreign_options() {
  static const std::map<std::string, std::set<std::string>> options = {
      {"cmake, ctest", {"--build", "--preset", "--target", "--test-dir"}},
      {"flux",
       {"--count", "--dependency", "--exclusive", "--expand", "--format", "--job-name", "--nodes", "--output",
        "--parent", "--requires", "--signal", "--time-limit"}},
      {"mpirun", {"--bind-to", "--cpu-bind", "--depth", "--hostfile", "--map-by", "--ppn"}},
      {"nvidia-smi", {"--format", "--query-gpu"}},
      {"git", {"--quiet"}},
      {"sbatch, srun, scontrol, sacctmgr, squeue", {"--account",       "--cpu-bind",        "--cpus-per-task",
                                                    "--dependency",    "--exclude",         "--gpu-bind",
                                                    "--gpus-per-task", "--job-name",        "--mpi",
                                                    "--no-kill",       "--no-requeue",      "--nodes",
                                                    "--ntasks",        "--ntasks-per-node", "--open-mode",
                                                    "--output",        "--partition",       "--qos",
                                                    "--requeue",       "--signal",          "--time"}},
      {"jobscripts/*/sft_train.*", {"--print"}},
      {"paste, tr", {"--delimiter"}},
  };
  return options;
}

bool is_foreign(const std::string& word) {
  return std::ranges::any_of(foreign_options(), [&](const auto& one) { return one.second.contains(word); });
}

bool is_known(const std::string& word) {
  return std::ranges::any_of(all_programs(),
                             [&](const ProgramOptions& one) { return one.words.contains(word); });
}

std::vector<std::string> words_of(const std::string& text) {
  // Not "x--y", not "--[no-]x", not a rule of a table ("---").
  static const std::regex word(R"((^|[^A-Za-z0-9_\-])(--[a-z][a-z0-9\-]*(\.[a-z][a-z0-9\-]*)*))");
  std::vector<std::string> words;
  for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
    words.push_back((*at)[2]);
  return words;
}

// A line as one thinks of it: those that end in a backslash go on.
struct LogicalLine {
  int number = 0;
  std::string text;
};

std::vector<LogicalLine> logical_lines(const std::string& text) {
  std::vector<LogicalLine> lines;
  std::istringstream in(text);
  bool goes_on = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!goes_on) lines.push_back({number, ""});
    goes_on = line.ends_with("\\");
    if (goes_on) line.pop_back();
    lines.back().text += line + " ";
  }
  return lines;
}

// Files that tell users what to type.
std::vector<std::string> guides() {
  std::vector<std::string> names = {"README.md"};
  const fs::path root = test::source_folder();
  for (const char* folder : {"docs", "jobscripts"}) {
    for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), root).generic_string());
    }
  }
  std::ranges::sort(names);
  return names;
}

void for_each_line(const std::function<void(const std::string& place, const std::string& text)>& use) {
  for (const std::string& name : guides()) {
    for (const LogicalLine& line : logical_lines(read_file(test::source_folder() / name)))
      use(name + ":" + std::to_string(line.number), line.text);
  }
}

TEST(OptionNames, InGuidesAreThoseOfAProgram) {
  int seen = 0;
  for_each_line([&](const std::string& place, const std::string& text) {
    for (const std::string& word : words_of(text)) {
      EXPECT_TRUE(is_known(word) || is_foreign(word)) << place << ": no program has the option " << word;
      ++seen;
    }
  });
  EXPECT_GT(seen, 200) << "the guides were not found";
}

// The program that a command line starts, and what follows it; checkpoint_tool by its command.
const ProgramOptions* program_of(const std::smatch& match) {
  const auto found = std::ranges::find_if(all_programs(), [&](const ProgramOptions& one) {
    return one.program == match[1] && (one.command.empty() || one.command == match[2]);
  });
  return found == all_programs().end() ? nullptr : &*found;
}

TEST(OptionNames, BehindAProgramAreItsOwn) {
  // "build/bin/sft_train --x ..." or "checkpoint_tool prune RUN --keep 3", to the end of the command or of
  // the quoted words. Only a program's name in front of an option makes it a command.
  static const std::regex command(
      R"(\b(sft_train|model_eval|text_gen|model_convert|checkpoint_tool)(?: (list|show|verify|diff|prune)\b)?((?: [^`|;&()<>]*)?))");
  std::set<std::string> seen;
  for_each_line([&](const std::string& place, const std::string& text) {
    for (std::sregex_iterator at(text.begin(), text.end(), command), end; at != end; ++at) {
      const std::string rest = (*at)[3];
      const ProgramOptions* program = program_of(*at);
      const bool is_command = rest.starts_with(" --") || !(*at)[2].str().empty();
      if (program == nullptr || !is_command) continue;
      seen.insert(program->program);
      for (const std::string& word : words_of(rest))
        EXPECT_TRUE(program->words.contains(word))
            << place << ": " << program->program << " " << program->command << " has no option " << word;
    }
  });
  EXPECT_THAT(seen, testing::IsSupersetOf({"sft_train", "model_eval", "text_gen", "checkpoint_tool"}));
}

TEST(OptionNames, InHelpTextsExist) {
  for (const ProgramOptions& one : all_programs()) {
    for (const std::string& word : words_of(one.help))
      EXPECT_TRUE(one.words.contains(word)) << one.program << " " << one.command << " --help names " << word;
  }
}

// A list of other programs' options must not hide what is ours and misspelt, nor grow without need.
TEST(OptionNames, OfOtherProgramsAreAllUsed) {
  std::set<std::string> used;
  for_each_line([&](const std::string&, const std::string& text) {
    for (const std::string& word : words_of(text)) used.insert(word);
  });
  for (const auto& [program, options] : foreign_options()) {
    for (const std::string& option : options)
      EXPECT_TRUE(used.contains(option)) << option << " of " << program << " stands in no guide any more";
  }
}

}  // namespace
}  // namespace charter::apps_test
