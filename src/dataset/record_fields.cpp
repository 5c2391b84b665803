// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_fields.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {

bool RecordFields::has(std::initializer_list<const char*> keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const char* key) {
    const auto found = object_.find(key);
    return found != object_.end() && !found->is_null();
  });
}

std::string RecordFields::text(const char* key) const {
  const Json& value = object_.at(key);
  if (!value.is_string()) refuse(fmt::format("\"{}\" is {}, expected a string", key, value.type_name()));
  return value.get<std::string>();
}

std::vector<Message> RecordFields::messages(const char* key) const {
  const Json& list = object_.at(key);
  if (!list.is_array()) {
    refuse(fmt::format("\"{}\" is {}, expected a list of messages", key, list.type_name()));
  }
  if (list.empty()) refuse(fmt::format("\"{}\" is an empty list, expected at least one message", key));
  std::vector<Message> messages;
  messages.reserve(list.size());
  for (const Json& item : list) {
    messages.push_back(message(item, fmt::format("{}[{}]", key, messages.size())));
  }
  return messages;
}

std::vector<Message> RecordFields::text_or_messages(const char* key, Role role) const {
  if (object_.at(key).is_string()) return {{role, text(key)}};
  if (!object_.at(key).is_array()) {
    refuse(fmt::format("\"{}\" is {}, expected a string or a list of messages", key,
                       object_.at(key).type_name()));
  }
  return messages(key);
}

std::vector<Message> RecordFields::instruction() const {
  std::string content = text("instruction");
  const std::string input = has({"input"}) ? text("input") : std::string();
  if (!input.empty()) content += "\n\n" + input;
  return {{Role::user, std::move(content)}};
}

double RecordFields::probability(const char* key) const {
  const Json& value = object_.at(key);
  const double number = value.is_number() ? value.get<double>() : -1.0;
  if (!(number >= 0.0 && number <= 1.0)) {
    refuse(fmt::format("\"{}\" is {}, expected a number from 0 to 1", key, value.dump().substr(0, 40)));
  }
  return number;
}

std::string RecordFields::keys() const {
  std::string list;
  for (const auto& [key, value] : object_.items()) {
    if (list.size() > 200) return list + ", ...";
    list += fmt::format("{}\"{}\"{}", list.empty() ? "" : ", ", key.substr(0, 40),
                        value.is_null() ? " (null)" : "");
  }
  return list.empty() ? "none" : list;
}

void RecordFields::refuse(const std::string& what) const {
  fail(ExitCode::bad_input, fmt::format("{}: {}", where_, what));
}

Message RecordFields::message(const Json& item, const std::string& place) const {
  if (!item.is_object()) {
    refuse(fmt::format("{} is {}, expected {{\"role\", \"content\"}}", place, item.type_name()));
  }
  const auto role = item.find("role");
  const auto content = item.find("content");
  if (role == item.end() || !role->is_string()) {
    refuse(fmt::format("{}.role is missing or not a string", place));
  }
  if (content == item.end() || !content->is_string()) {
    refuse(fmt::format("{}.content is {}, expected a string", place,
                       content == item.end() ? "missing" : content->type_name()));
  }
  const auto& name = role->get_ref<const std::string&>();
  Message message{Role::user, content->get<std::string>()};
  if (name == "assistant") {
    message.role = Role::assistant;
  } else if (name == "system") {
    message.role = Role::system;
  } else if (name != "user") {
    refuse(fmt::format("{}.role is \"{}\", expected system, user or assistant", place, name.substr(0, 40)));
  }
  return message;
}

}  // namespace charter
