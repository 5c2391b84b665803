// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checkpoint_names.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace charter {
namespace {

constexpr std::string_view step_prefix = "step-";
constexpr std::size_t least_digits = 10;

// The digits of "step-<digits>" that start `name`, or nothing; `rest` is what follows them.
std::optional<std::int64_t> leading_step(std::string_view name, std::string_view& rest) {
  if (!name.starts_with(step_prefix)) return std::nullopt;
  name.remove_prefix(step_prefix.size());
  const std::size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  // One spelling for each step: no leading zero beyond ten digits.
  if (digits < least_digits || (digits > least_digits && name[0] == '0')) return std::nullopt;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + digits, step);
  if (error != std::errc() || end != name.data() + digits) return std::nullopt;
  rest = name.substr(digits);
  return step;
}

bool all_of(std::string_view text, bool (*accept)(char)) {
  return std::all_of(text.begin(), text.end(), accept);
}

bool is_printable(char c) {
  return c >= 0x20 && c < 0x7f;
}

}  // namespace

std::string step_folder_name(std::int64_t step) {
  return fmt::format("step-{:010d}", step);
}

std::optional<std::int64_t> step_of_folder(std::string_view name) {
  std::string_view rest;
  const auto step = leading_step(name, rest);
  return rest.empty() ? step : std::nullopt;
}

FolderState state_of_folder(std::string_view name) {
  if (name.starts_with(".trash-")) return FolderState::trash;
  std::string_view rest;
  if (!leading_step(name, rest)) return FolderState::foreign;
  if (rest.empty()) return FolderState::committed;
  if (rest.starts_with(".tmp.")) return FolderState::in_flight;
  if (rest == ".bad" || rest.starts_with(".bad-")) return FolderState::bad;
  if (rest == ".superseded" || rest.starts_with(".superseded-")) return FolderState::superseded;
  return FolderState::foreign;
}

std::string in_flight_folder_name(std::int64_t step, std::string_view job) {
  std::string clean(job);
  for (char& c : clean) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
    if (!plain) c = '_';
  }
  return step_folder_name(step) + ".tmp." + clean;
}

std::string part_file_name(std::int64_t part) {
  return fmt::format("part_{:04d}.h5", part);
}

bool is_plain_file_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
         all_of(name, [](char c) { return is_printable(c) && c != '/' && c != '\\'; });
}

bool is_tensor_name(std::string_view name) {
  return !name.empty() && name.size() <= 512 && name != "." && name != ".." &&
         all_of(name, [](char c) { return is_printable(c) && c != '/'; });
}

bool is_group_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 &&
         all_of(name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace charter
