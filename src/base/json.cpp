// SPDX-License-Identifier: Apache-2.0
#include "src/base/json.hpp"

#include <set>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/message_text.hpp"

template class nlohmann::basic_json<>;

namespace charter {
namespace {

// What a message quotes of a file.
std::string beginning(std::string_view text) {
  return shortened(text, 40);
}

// The library quotes the whole token it last read, which may be megabytes: "...; last read: 'TOKEN'; expected
// X".
std::string with_short_token(std::string_view message) {
  constexpr std::string_view before = "last read: '";
  const std::size_t found = message.find(before);
  if (found == std::string_view::npos) return std::string(message);
  const std::size_t token = found + before.size();
  std::size_t end = message.rfind("'; expected ");
  if (end == std::string_view::npos || end < token) end = message.size() - 1;
  return fmt::format("{}{}{}", message.substr(0, token), beginning(message.substr(token, end - token)),
                     message.substr(end));
}

}  // namespace

Json parse_json(std::string_view text, const std::string& where, int max_depth) {
  // The library takes a NUL for the end of the text and would not look at what follows.
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    fail(ExitCode::bad_input,
         fmt::format("{}: not valid JSON at byte {}: a NUL byte, which JSON has nowhere", where, nul + 1));
  }
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
               fmt::format("{}: key \"{}\" stands twice in one JSON object", where, beginning(key)));
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
         fmt::format("{}: not valid JSON at byte {}: {}", where, error.byte, with_short_token(error.what())));
  } catch (const Json::exception& error) {
    // A number that no double can hold: the library has another exception for it, which knows no place.
    fail(ExitCode::bad_input, fmt::format("{}: not usable JSON: {}", where, shortened(error.what(), 120)));
  }
}

}  // namespace charter
