// SPDX-License-Identifier: Apache-2.0
// One line of a JSON-lines file: named values in the order in which they are given.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace charter {

using MetricValue = std::variant<std::int64_t, double, bool, std::string>;

struct Metric {
  std::string name;
  MetricValue value;
};

// {"name": value, ...} and the line's end. Numbers that are not finite become null; bytes that are not UTF-8
// become U+FFFD, so that no text can end a run.
std::string json_line(std::span<const Metric> values);

}  // namespace charter
