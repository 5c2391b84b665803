// SPDX-License-Identifier: Apache-2.0
#include "src/report/console_table.hpp"

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

TEST(ConsoleTable, AlignsColumnsAndLeavesNoBlankAtLineEnds) {
  ConsoleTable table({{"category", Align::left}, {"bytes", Align::right}, {"note", Align::left}});
  table.add_row({"parameters", "512", ""});
  table.add_row({"KV", "1048576", "grows"});
  EXPECT_EQ(table.render(),
            "category      bytes  note\n"
            "----------  -------  -----\n"
            "parameters      512\n"
            "KV          1048576  grows\n");
}

TEST(ConsoleTable, WithoutRowsShowsItsTitles) {
  EXPECT_EQ(ConsoleTable({{"a", Align::left}, {"b", Align::right}}).render(), "a  b\n-  -\n");
}

TEST(ConsoleTable, RefusesARowOfAnotherWidth) {
  ConsoleTable table({{"a", Align::left}});
  EXPECT_THROW(table.add_row({"1", "2"}), Error);
}

}  // namespace
}  // namespace charter
