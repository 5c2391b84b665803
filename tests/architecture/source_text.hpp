// SPDX-License-Identifier: Apache-2.0
// A source file as the architecture rules see it: its lines, its includes, and its code without comments and
// literals.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace charter::architecture {

struct Include {
  std::string path;
  int line = 0;
};

struct SourceText {
  std::string name;                // relative to the root, with /
  std::vector<std::string> lines;  // as written
  std::vector<std::string> code;   // the same lines; comments, texts and characters in quotes are blanks
  std::vector<Include> includes;

  bool is_header() const { return name.ends_with(".hpp"); }
  // "src/base" of "src/base/error.hpp"; "apps" of a file that lies in apps itself.
  std::string folder() const;
};

// Never throws for odd text: an open comment or literal simply reaches to the end.
SourceText read_source(const std::filesystem::path& root, const std::string& name);

// The C++ files (.cpp .hpp .cu) below root's src, modules, apps, bench and tests, sorted by name.
std::vector<SourceText> read_tree(const std::filesystem::path& root);

}  // namespace charter::architecture
