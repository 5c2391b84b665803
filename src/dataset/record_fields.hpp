// SPDX-License-Identifier: Apache-2.0
// The fields of one JSON record, each checked when it is taken. Knows types, not shapes: record_parser.hpp
// does.
#pragma once

#include <initializer_list>
#include <string>
#include <vector>

#include "src/base/json.hpp"
#include "src/text/chat_template.hpp"

namespace charter {

// Views of the caller's object and name; the members that return a field want its key present and throw
// bad_input, starting with `where`, when its type or value is wrong.
class RecordFields {
 public:
  RecordFields(const Json& object, const std::string& where) : object_(object), where_(where) {}

  // Whether all keys are present with a value other than null.
  bool has(std::initializer_list<const char*> keys) const;
  std::string text(const char* key) const;
  // A list of {"role", "content"}, at least one.
  std::vector<Message> messages(const char* key) const;
  // Such a list, or a string, which stands for one message of `role`.
  std::vector<Message> text_or_messages(const char* key, Role role) const;
  // {"instruction", "input"} as a user's message: joined by a blank line where there is an input.
  std::vector<Message> instruction() const;
  // A number from 0 to 1.
  double probability(const char* key) const;
  // The keys found, for messages.
  std::string keys() const;
  [[noreturn]] void refuse(const std::string& what) const;

 private:
  Message message(const Json& item, const std::string& place) const;

  const Json& object_;
  const std::string& where_;
};

}  // namespace charter
