// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/restart_ledger.hpp"

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

constexpr std::int64_t ledger_limit_bytes = 4096;

RestartRecord read_record(const std::filesystem::path& file) {
  RestartRecord record;
  if (!path_exists(file)) return record;
  try {
    const Json json = parse_json(read_file(file, ledger_limit_bytes), file.string());
    record.step = json.at("step").get<std::int64_t>();
    record.restarts = json.at("restarts").get<int>();
    record.clean = json.at("clean").get<bool>();
  } catch (const std::exception& error) {
    log_warning(fmt::format("{}: not a restart record, counting from zero: {}", file.string(), error.what()));
    return {};
  }
  return record;
}

}  // namespace

RestartRecord begin_run(const RestartRecord& before, std::int64_t step) {
  RestartRecord now;
  now.step = step;
  now.clean = false;
  now.restarts = before.clean || step > before.step ? 0 : before.restarts + 1;
  return now;
}

RestartLedger::RestartLedger(const std::filesystem::path& folder)
    : file_(folder / "RESTARTS"), record_(read_record(file_)) {}

void RestartLedger::begin(std::int64_t step) {
  const RestartRecord now = begin_run(record_, step);
  if (now.restarts >= most_restarts_without_progress) {
    const std::string from = step < 0 ? "from scratch" : fmt::format("from step {}", step);
    fail(
        ExitCode::internal,
        fmt::format("this is restart {} {} and no checkpoint was written in between: something kills the run "
                    "each time. Read the end of log.txt, cure it, then remove {} to try again",
                    now.restarts, from, file_.string()));
  }
  record_ = now;
  write();
}

void RestartLedger::progress(std::int64_t step) {
  record_.step = step;
  record_.restarts = 0;
  write();
}

void RestartLedger::end() {
  record_.clean = true;
  write();
}

void RestartLedger::write() const {
  const Json json = {{"step", record_.step}, {"restarts", record_.restarts}, {"clean", record_.clean}};
  write_file_atomically(file_, json.dump() + "\n");
}

}  // namespace charter
