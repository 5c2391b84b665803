// SPDX-License-Identifier: Apache-2.0
#include "src/report/console_table.hpp"

#include <algorithm>
#include <utility>

#include "src/base/error.hpp"

namespace charter {

ConsoleTable::ConsoleTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void ConsoleTable::add_row(std::vector<std::string> cells) {
  require(cells.size() == columns_.size(), "a table's row has one cell for each column");
  rows_.push_back(std::move(cells));
}

std::string ConsoleTable::render() const {
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    std::size_t width = columns_[c].title.size();
    for (const auto& row : rows_) width = std::max(width, row[c].size());
    widths.push_back(width);
  }
  std::string text;
  const auto add_line = [&](auto&& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = cell_of(c);
      const std::string padding(widths[c] - cell.size(), ' ');
      if (c > 0) line += "  ";
      line += columns_[c].align == Align::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  add_line([&](std::size_t c) { return columns_[c].title; });
  add_line([&](std::size_t c) { return std::string(widths[c], '-'); });
  for (const auto& row : rows_) {
    add_line([&](std::size_t c) { return row[c]; });
  }
  return text;
}

}  // namespace charter
