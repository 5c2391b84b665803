// SPDX-License-Identifier: Apache-2.0
// docs/troubleshooting.md is looked up by message: what it quotes must stand in the sources.
#include <algorithm>
#include <map>
#include <regex>

#include <gtest/gtest.h>

#include "tests/architecture/source_text.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::architecture {
namespace {

// Messages that a program puts together, by their parts.
const std::map<std::string, std::vector<std::string>>& composed_messages() {
  static const std::map<std::string, std::vector<std::string>> messages = {
      {"the program or its options differ between ranks",
       {"the program or its options", "{} differ between ranks"}},
      {"the tokenised data differs between ranks", {"the tokenised data", "{} differs between ranks"}},
      {"out of device memory", {"out of {} memory"}},
  };
  return messages;
}

// The programs' sources, a literal of several lines as one.
std::string program_texts() {
  static const std::regex seam(R"("\s*\n\s*")");
  std::string all;
  for (const SourceText& source : read_tree(test::source_folder())) {
    if (source.name.starts_with("tests/") || source.name.starts_with("bench/")) continue;
    for (const std::string& line : source.lines) all += line + "\n";
  }
  return std::regex_replace(all, seam, "");
}

// The literal parts of a quoted message: what stands for numbers and names ("...", N, a number) cuts it.
std::vector<std::string> literal_parts(std::string quoted) {
  static const std::regex variable(R"("?\.\.\."?|\bN\b|\b\d+\b)");
  if (const auto composed = composed_messages().find(quoted); composed != composed_messages().end())
    return composed->second;
  quoted = std::regex_replace(quoted, variable, "\n");
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (begin < quoted.size()) {
    const std::size_t end = std::min(quoted.find('\n', begin), quoted.size());
    std::string part = quoted.substr(begin, end - begin);
    while (part.starts_with(' ')) part.erase(0, 1);
    while (part.ends_with(' ')) part.pop_back();
    if (part.size() >= 4) parts.push_back(part);
    begin = end + 1;
  }
  return parts;
}

TEST(Troubleshooting, QuotesMessagesThatExist) {
  static const std::regex row(R"(^\| `([^`]+)`.*)");
  const std::string texts = program_texts();
  const SourceText page = read_source(test::source_folder(), "docs/troubleshooting.md");
  int messages = 0;
  for (std::size_t i = 0; i < page.lines.size(); ++i) {
    std::smatch match;
    if (!std::regex_match(page.lines[i], match, row)) continue;
    ++messages;
    for (const std::string& part : literal_parts(match[1])) {
      EXPECT_NE(texts.find(part), std::string::npos)
          << "docs/troubleshooting.md:" << i + 1 << ": no program says \"" << part << "\"";
    }
  }
  EXPECT_GE(messages, 25);
}

}  // namespace
}  // namespace charter::architecture
