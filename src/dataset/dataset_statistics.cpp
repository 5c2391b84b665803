// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/dataset_statistics.hpp"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

struct Field {
  const char* key;
  std::string_view phrase;
  std::int64_t DatasetStatistics::*member;
};

constexpr std::array fields{
    Field{"records", "records", &DatasetStatistics::records},
    Field{"samples", "samples", &DatasetStatistics::samples},
    Field{"input_tokens", "input tokens", &DatasetStatistics::input_tokens},
    Field{"loss_tokens", "loss tokens", &DatasetStatistics::loss_tokens},
    Field{"bad_records", "bad records passed over", &DatasetStatistics::bad_records},
    Field{"replaced_surrogates", "lone surrogates replaced", &DatasetStatistics::replaced_surrogates},
    Field{"truncated", "truncated", &DatasetStatistics::truncated},
    Field{"dropped", "dropped as too long", &DatasetStatistics::dropped},
    Field{"split", "split", &DatasetStatistics::split},
    Field{"all_masked", "left out with no target that counts", &DatasetStatistics::all_masked},
    Field{"too_short", "left out as too short", &DatasetStatistics::too_short},
};
constexpr std::size_t totals = 4;  // fields shown even when they are zero

}  // namespace

Json to_json(const DatasetStatistics& statistics) {
  Json json = Json::object();
  for (const Field& field : fields) json[field.key] = statistics.*field.member;
  return json;
}

DatasetStatistics statistics_from_json(const Json& json, const std::string& where) {
  DatasetStatistics statistics;
  for (const Field& field : fields) {
    const bool counted = json.contains(field.key) && json[field.key].is_number_integer();
    statistics.*field.member = counted ? json[field.key].get<std::int64_t>() : -1;
    if (statistics.*field.member < 0) {
      fail(ExitCode::bad_input, fmt::format("{}: statistics lack the count \"{}\"", where, field.key));
    }
  }
  return statistics;
}

std::string describe(const DatasetStatistics& statistics) {
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::int64_t count = statistics.*fields[i].member;
    if (i < totals || count != 0)
      line += fmt::format("{}{} {}", line.empty() ? "" : ", ", count, fields[i].phrase);
  }
  return line;
}

}  // namespace charter
