// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/source_text.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace charter::architecture {
namespace {

namespace fs = std::filesystem;

// Blanks every character of text[from, to) except line ends.
void blank(std::string& text, std::size_t from, std::size_t to) {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i) {
    if (text[i] != '\n') text[i] = ' ';
  }
}

// The place behind a literal in quotes that opens at `open`, counting backslashes; a line end closes it too.
std::size_t end_of_quotes(const std::string& text, std::size_t open) {
  std::size_t i = open + 1;
  while (i < text.size() && text[i] != text[open] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

// The place behind R"mark( ... )mark" that opens at `open` (its quote).
std::size_t end_of_raw(const std::string& text, std::size_t open) {
  const std::size_t bracket = text.find('(', open);
  if (bracket == std::string::npos) return text.size();
  std::string close(1, ')');
  close.append(text, open + 1, bracket - open - 1).push_back('"');
  const std::size_t end = text.find(close, bracket);
  return end == std::string::npos ? text.size() : end + close.size();
}

std::string without_comments_and_literals(std::string text) {
  std::size_t i = 0;
  while (i < text.size()) {
    std::size_t end = i + 1;
    if (text.compare(i, 2, "//") == 0) {
      end = std::min(text.find('\n', i), text.size());
      blank(text, i, end);
    } else if (text.compare(i, 2, "/*") == 0) {
      const std::size_t close = text.find("*/", i + 2);
      end = close == std::string::npos ? text.size() : close + 2;
      blank(text, i, end);
    } else if (text[i] == '"' && i > 0 && text[i - 1] == 'R') {
      end = end_of_raw(text, i);
      blank(text, i, end);
    } else if (text[i] == '"' ||
               (text[i] == '\'' && (i == 0 || std::isalnum(static_cast<unsigned char>(text[i - 1])) == 0))) {
      end = end_of_quotes(text, i);
      blank(text, i, end);
    }
    i = end;
  }
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::string SourceText::folder() const {
  const std::size_t first = name.find('/');
  const std::size_t second = name.find('/', first + 1);
  return name.substr(0, second == std::string::npos ? first : second);
}

SourceText read_source(const fs::path& root, const std::string& name) {
  std::ifstream file(root / name, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  SourceText source{name, split_lines(text), split_lines(without_comments_and_literals(text)), {}};
  static const std::regex include_line(R"re(^\s*#\s*include\s*[<"]([^>"]+)[>"])re");
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    std::smatch match;
    // Most lines are none; the regex is slow.
    if (source.lines[i].find("include") == std::string::npos) continue;
    if (std::regex_search(source.lines[i], match, include_line))
      source.includes.push_back({match[1], static_cast<int>(i) + 1});
  }
  return source;
}

std::vector<SourceText> read_tree(const fs::path& root) {
  static const std::set<std::string> endings = {".cpp", ".hpp", ".cu"};
  std::vector<std::string> names;
  for (const char* top : {"src", "modules", "apps", "bench", "tests"}) {
    if (!fs::is_directory(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      if (entry.is_regular_file() && endings.contains(entry.path().extension().string())) {
        names.push_back(entry.path().lexically_relative(root).generic_string());
      }
    }
  }
  std::sort(names.begin(), names.end());
  std::vector<SourceText> tree;
  tree.reserve(names.size());
  for (const std::string& name : names) tree.push_back(read_source(root, name));
  return tree;
}

}  // namespace charter::architecture
