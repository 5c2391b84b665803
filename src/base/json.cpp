// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"

template class nlohmann::basic_json<>;

namespace charter {

Json parse_json(std::string_view text, const std::string& where, int max_depth) {
  std::vector<std::set<std::string>> keys_of_open_objects;
  const Json::parser_callback_t check = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (depth > max_depth) {
      fail(ExitCode::bad_input, fmt::format("{}: JSON nesting deeper than {}", where, max_depth));
    }
    switch (event) {
      case Json::parse_event_t::object_start:
        keys_of_open_objects.emplace_back();
        break;
      case Json::parse_event_t::object_end:
        keys_of_open_objects.pop_back();
        break;
      case Json::parse_event_t::key: {
        const auto& key = parsed.get_ref<const std::string&>();
        if (!keys_of_open_objects.back().insert(key).second) {
          fail(ExitCode::bad_input,
               fmt::format("{}: key \"{}\" stands twice in one JSON object", where, key));
        }
        break;
      }
      default:
        break;
    }
    return true;
  };
  try {
    return Json::parse(text.begin(), text.end(), check);
  } catch (const Json::parse_error& error) {
    fail(ExitCode::bad_input,
         fmt::format("{}: not valid JSON at byte {}: {}", where, error.byte, error.what()));
  }
}

}  // namespace charter
