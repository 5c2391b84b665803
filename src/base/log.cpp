// SPDX-License-Identifier: Apache-2.0
#include "src/base/log.hpp"

#include <atomic>
#include <memory>

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "src/base/error.hpp"
#include "src/base/message_text.hpp"

namespace charter {
namespace {

// One process has one log; it is the only global state of src/base.
struct LogState {
  LogIdentity identity;
  std::atomic<long long> step{-1};
  std::shared_ptr<spdlog::logger> logger;
};

LogState& state() {
  static LogState instance = [] {
    return LogState{
        {},
        -1,
        std::make_shared<spdlog::logger>("charter", std::make_shared<spdlog::sinks::stderr_sink_mt>())};
  }();
  static const bool configured = [] {
    instance.logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
    instance.logger->set_level(spdlog::level::trace);
    return true;
  }();
  (void)configured;
  return instance;
}

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::debug:
      return "debug";
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "?";
}

}  // namespace

void set_log_identity(const LogIdentity& identity) {
  state().identity = identity;
  if (!identity.show_on_terminal) state().logger->sinks().clear();
}

void set_log_file(const std::filesystem::path& file) {
  try {
    auto sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file.string(), false);
    sink->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
    state().logger->sinks().push_back(sink);
    state().logger->flush_on(spdlog::level::trace);
  } catch (const spdlog::spdlog_ex& error) {
    fail(ExitCode::cannot_write, fmt::format("{}: cannot open the log: {}", file.string(), error.what()));
  }
}

void set_log_step(long long step) {
  state().step = step;
}

void log(Severity severity, const std::string& message) {
  LogState& current = state();
  const long long step = current.step;
  const std::string step_text = step < 0 ? std::string("-") : std::to_string(step);
  current.logger->log(severity == Severity::error ? spdlog::level::err : spdlog::level::info,
                      "step {} rank {} {}: {}", step_text, current.identity.rank, name_of(severity),
                      printable(message));
}

}  // namespace charter
