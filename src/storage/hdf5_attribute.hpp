// SPDX-License-Identifier: Apache-2.0
// Small values on a file, group or data set: text, integers, lists of integers, real numbers. Written once (a
// second write of a name is an error); reading checks class, rank and size before it allocates.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "src/storage/hdf5_handles.hpp"

namespace charter {

// UTF-8, stored with fixed length and a closing NUL. Throws cannot_write; internal when the text contains a
// NUL.
void write_attribute(hid_t object, const std::string& name, const std::string& text);
void write_attribute(hid_t object, const std::string& name, const char* text);
void write_attribute(hid_t object, const std::string& name, std::int64_t value);
void write_attribute(hid_t object, const std::string& name, double value);
void write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values);

bool has_attribute(hid_t object, const std::string& name);

// Each throws bad_input naming file, object and attribute when it is absent or of another class or rank.
// Variable-length text is refused; `limit_bytes` bounds text, 65,536 elements a list.
std::string read_text_attribute(hid_t object, const std::string& name,
                                std::int64_t limit_bytes = std::int64_t{16} << 20);
std::int64_t read_integer_attribute(hid_t object, const std::string& name);
double read_real_attribute(hid_t object, const std::string& name);
std::vector<std::int64_t> read_integers_attribute(hid_t object, const std::string& name);

}  // namespace charter
