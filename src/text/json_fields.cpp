// SPDX-License-Identifier: Apache-2.0
#include "src/text/json_fields.hpp"

#include <cstdint>
#include <limits>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

[[noreturn]] void fail_type(const Json& value, const std::string& name, const char* expected,
                            const std::string& where) {
  fail(ExitCode::bad_input,
       fmt::format("{}: \"{}\" is {} {}, expected {}", where, name,
                   value.is_array() || value.is_object() ? "an" : "a", value.type_name(), expected));
}

}  // namespace

const Json* find_field(const Json& object, const std::string& name, const std::string& where) {
  if (!object.is_object()) {
    fail(ExitCode::bad_input,
         fmt::format("{}: expected a JSON object with \"{}\", found {}", where, name, object.type_name()));
  }
  const auto field = object.find(name);
  return field == object.end() || field->is_null() ? nullptr : &*field;
}

std::optional<std::string> string_field(const Json& object, const std::string& name,
                                        const std::string& where) {
  const Json* field = find_field(object, name, where);
  if (field == nullptr) return std::nullopt;
  if (!field->is_string()) fail_type(*field, name, "a string", where);
  return field->get<std::string>();
}

std::optional<bool> bool_field(const Json& object, const std::string& name, const std::string& where) {
  const Json* field = find_field(object, name, where);
  if (field == nullptr) return std::nullopt;
  if (!field->is_boolean()) fail_type(*field, name, "true or false", where);
  return field->get<bool>();
}

const Json& required_field(const Json& object, const std::string& name, const std::string& where) {
  const Json* field = find_field(object, name, where);
  if (field == nullptr) fail(ExitCode::bad_input, fmt::format("{}: \"{}\" is missing", where, name));
  return *field;
}

std::string required_string(const Json& object, const std::string& name, const std::string& where) {
  const Json& field = required_field(object, name, where);
  if (!field.is_string()) fail_type(field, name, "a string", where);
  return field.get<std::string>();
}

const Json& array_field(const Json& object, const std::string& name, const std::string& where) {
  const Json& field = required_field(object, name, where);
  if (!field.is_array()) fail_type(field, name, "an array", where);
  return field;
}

int int32_of(const Json& value, const std::string& what) {
  const bool whole = value.is_number_integer();
  const bool in_range =
      whole &&
      (value.is_number_unsigned() ? value.get<std::uint64_t>() <= std::numeric_limits<std::int32_t>::max()
                                  : value.get<std::int64_t>() >= std::numeric_limits<std::int32_t>::min());
  if (!in_range) {
    fail(ExitCode::bad_input,
         fmt::format("{} is {}, expected a whole number of 32 bits", what,
                     value.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 80)));
  }
  return value.get<int>();
}

}  // namespace charter
