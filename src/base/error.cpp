// SPDX-License-Identifier: Apache-2.0
#include "src/base/error.hpp"

#include <fmt/format.h>

#include "src/base/failure_hook.hpp"
#include "src/base/message_text.hpp"

namespace charter {
namespace {

// Names and values in a message come from files, which may hold megabytes of them.
constexpr std::size_t longest_message = std::size_t{16} << 10;

FailureHook failure_hook = nullptr;

}  // namespace

void set_failure_hook(FailureHook hook) {
  failure_hook = hook;
}

void fail(ExitCode code, const std::string& message) {
  const std::string text = shortened(message, longest_message);
  if (failure_hook != nullptr) failure_hook(code, text);
  throw Error(code, text);
}

void require(bool condition, std::string_view what, std::source_location where) {
  if (condition) return;
  fail(ExitCode::internal, fmt::format("broken invariant: {} ({}:{} in {}); this is a fault of Charter's own",
                                       what, where.file_name(), where.line(), where.function_name()));
}

}  // namespace charter
