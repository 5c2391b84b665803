// SPDX-License-Identifier: Apache-2.0
// The rules, held against the tree itself.
#include <algorithm>

#include <gtest/gtest.h>

#include "tests/architecture/rules.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::architecture {
namespace {

namespace fs = std::filesystem;

const std::vector<SourceText>& tree() {
  static const std::vector<SourceText> sources = read_tree(test::source_folder());
  return sources;
}

void expect_none(const Findings& findings) {
  for (const Finding& finding : findings) ADD_FAILURE() << finding.text();
}

TEST(Tree, IsFound) {
  // A wrong root would make every rule below pass.
  const auto has = [](const std::string& name) {
    return std::any_of(tree().begin(), tree().end(),
                       [&](const SourceText& source) { return source.name == name; });
  };
  EXPECT_TRUE(has("src/base/error.hpp"));
  EXPECT_TRUE(has("tests/architecture/tree_test.cpp"));
}

TEST(Tree, IncludesPointOneWay) {
  expect_none(check_include_direction(tree()));
}
TEST(Tree, FoldersHaveNoCycles) {
  expect_none(check_folder_cycles(tree()));
}
TEST(Tree, OutsideLibrariesStayBehindTheirFolders) {
  expect_none(check_outside_headers(tree()));
}
TEST(Tree, OnlyTheSessionEndsTheProcess) {
  expect_none(check_process_ends(tree()));
}
TEST(Tree, FilesHaveTheirForm) {
  expect_none(check_file_form(tree()));
}
TEST(Tree, ModulesSayWhatIsCollective) {
  expect_none(check_collective_comments(tree()));
}

TEST(Tree, EveryFolderOfSrcAndModulesHasAShortReadme) {
  constexpr int longest_readme = 40;
  for (const char* top : {"src", "modules"}) {
    for (const auto& entry : fs::directory_iterator(test::source_folder() / top)) {
      if (!entry.is_directory() || !fs::exists(entry.path() / "CMakeLists.txt")) continue;
      const std::string name = (fs::path(top) / entry.path().filename() / "README.md").generic_string();
      const SourceText readme = read_source(test::source_folder(), name);
      EXPECT_FALSE(readme.lines.empty()) << name << ":1: missing or empty";
      EXPECT_LE(readme.lines.size(), longest_readme) << name << ":" << longest_readme + 1 << ": too long";
    }
  }
}

}  // namespace
}  // namespace charter::architecture
