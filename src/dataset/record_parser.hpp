// SPDX-License-Identifier: Apache-2.0
// One JSON value to a Record: finds the shape by the keys, checks every field's type, and says what was found
// and expected when none fits.
#pragma once

#include <string>
#include <vector>

#include "src/base/json.hpp"
#include "src/dataset/record.hpp"

namespace charter {

// Keys whose value is null count as absent; keys that no shape knows are ignored. Contents are kept byte for
// byte. `where` names the record in messages. Throws bad_input.
Record parse_record(const Json& value, RecordUse use, const std::string& where);

// All records of one value: as many as it has instances where it is one of self-instruct's seed tasks
// ({"instruction", "instances": [{"input", "output"}, ...]}), otherwise one. Throws bad_input.
std::vector<Record> records_of(const Json& value, RecordUse use, const std::string& where);

}  // namespace charter
