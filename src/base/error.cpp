// SPDX-License-Identifier: Apache-2.0
#include "src/base/error.hpp"

#include <fmt/format.h>

namespace charter {

void fail(ExitCode code, const std::string& message) {
  throw Error(code, message);
}

void require(bool condition, std::string_view what, std::source_location where) {
  if (condition) return;
  throw Error(ExitCode::internal,
              fmt::format("broken invariant: {} ({}:{} in {}); this is a fault of Charter's own", what,
                          where.file_name(), where.line(), where.function_name()));
}

}  // namespace charter
