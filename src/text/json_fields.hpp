// SPDX-License-Identifier: Apache-2.0
// Fields of JSON objects, read with a type and an error that names the field. Absent and null are the same
// thing, as they are in the files these helpers read. Private to src/text.
#pragma once

#include <optional>
#include <string>

#include "src/base/json.hpp"

namespace charter {

// The field, or nothing when it is absent or null. Throws bad_input when `object` is no JSON object.
const Json* find_field(const Json& object, const std::string& name, const std::string& where);

// Each throws bad_input naming the field and the type it has when that is another.
std::optional<std::string> string_field(const Json& object, const std::string& name,
                                        const std::string& where);
std::optional<bool> bool_field(const Json& object, const std::string& name, const std::string& where);
// As string_field; an absent field throws too.
std::string required_string(const Json& object, const std::string& name, const std::string& where);
const Json& required_field(const Json& object, const std::string& name, const std::string& where);
const Json& array_field(const Json& object, const std::string& name, const std::string& where);

// A whole number of 32 bits. Throws bad_input saying what `what` is instead.
int int32_of(const Json& value, const std::string& what);

}  // namespace charter
