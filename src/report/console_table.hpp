// SPDX-License-Identifier: Apache-2.0
// Aligned columns of text, as start-up reports and command-line listings show them. Widths are counted in
// bytes: cells are ASCII.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace charter {

enum class Align : std::uint8_t { left, right };

class ConsoleTable {
 public:
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit ConsoleTable(std::vector<Column> columns);

  // One cell for each column. Throws Error(internal) on another number.
  void add_row(std::vector<std::string> cells);
  // Title line, a line of dashes, rows; two blanks between columns, no blank at a line's end, each line
  // ended.
  std::string render() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace charter
