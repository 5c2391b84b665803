// SPDX-License-Identifier: Apache-2.0
#include "src/report/json_line.hpp"

#include <cmath>
#include <type_traits>

#include <nlohmann/json.hpp>

namespace charter {
namespace {

nlohmann::ordered_json to_json(const MetricValue& value) {
  return std::visit(
      [](const auto& held) -> nlohmann::ordered_json {
        using Held = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<Held, double>) {
          if (!std::isfinite(held)) return nullptr;
        }
        return held;
      },
      value);
}

}  // namespace

std::string json_line(std::span<const Metric> values) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  for (const Metric& one : values) object[one.name] = to_json(one.value);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace charter
