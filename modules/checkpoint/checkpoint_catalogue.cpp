// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/checkpoint_catalogue.hpp"

#include <algorithm>
#include <charconv>
#include <sstream>

#include <fmt/format.h>

#include "modules/checkpoint/process_identity.hpp"
#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/json.hpp"
#include "src/base/log.hpp"

namespace charter {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t small_file_bytes = std::int64_t{16} << 20;

[[noreturn]] void cannot_write(const fs::path& path, const std::string& what, const std::error_code& error) {
  fail(ExitCode::cannot_write, fmt::format("{}: {}: {}", path.string(), what, error.message()));
}

void rename_or_fail(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  // An NFS client may report failure for a repeated rename that has worked.
  std::error_code ignored;
  if (error && !(fs::exists(to / manifest_file, ignored) && !fs::exists(from, ignored))) {
    cannot_write(from, fmt::format("cannot be renamed to {}", to.filename().string()), error);
  }
  fsync_path(to.parent_path());
}

void delete_folder(const fs::path& path) {
  std::error_code error;
  fs::remove_all(path, error);
  if (error) log_warning(fmt::format("{}: cannot be deleted: {}", path.string(), error.message()));
}

// The first of "<stem>", "<stem>-2", "<stem>-3", ... that is free.
fs::path free_name(const fs::path& folder, const std::string& stem) {
  fs::path path = folder / stem;
  for (int number = 2; fs::exists(path); ++number) path = folder / fmt::format("{}-{}", stem, number);
  return path;
}

std::optional<std::int64_t> step_in_line(const std::string& line) {
  if (const auto step = step_of_folder(line)) return step;
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), step);
  if (error != std::errc() || end != line.data() + line.size() || step < 0) return std::nullopt;
  return step;
}

}  // namespace

fs::path CheckpointCatalogue::path_of(std::int64_t step) const {
  return folder_ / step_folder_name(step);
}

void CheckpointCatalogue::create() const {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) cannot_write(folder_, "cannot be made", error);
}

std::vector<std::string> CheckpointCatalogue::names() const {
  std::vector<std::string> found;
  if (!fs::exists(folder_)) return found;
  std::error_code error;
  for (fs::directory_iterator at(folder_, error); !error && at != fs::directory_iterator();
       at.increment(error)) {
    found.push_back(at->path().filename().string());
  }
  if (error)
    fail(ExitCode::io_error, fmt::format("{}: cannot be listed: {}", folder_.string(), error.message()));
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> CheckpointCatalogue::names_in(std::initializer_list<FolderState> states) const {
  std::vector<std::string> chosen = names();
  std::erase_if(chosen, [&](const std::string& name) {
    return std::ranges::find(states, state_of_folder(name)) == states.end();
  });
  return chosen;
}

void CheckpointCatalogue::sweep() const {
  for (const std::string& name : passing()) {
    log_info(fmt::format("{}: left by a job that ended, deleted", (folder_ / name).string()));
    delete_folder(folder_ / name);
  }
}

std::vector<std::int64_t> CheckpointCatalogue::committed() const {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names()) {
    if (const auto step = step_of_folder(name)) steps.push_back(*step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

std::vector<std::string> CheckpointCatalogue::put_aside() const {
  return names_in({FolderState::bad, FolderState::superseded});
}

std::vector<std::string> CheckpointCatalogue::passing() const {
  return names_in({FolderState::in_flight, FolderState::trash});
}

fs::path CheckpointCatalogue::begin(std::int64_t step, const std::string& job) const {
  const fs::path path = folder_ / in_flight_folder_name(step, job);
  delete_folder(path);
  std::error_code error;
  if (!fs::create_directory(path, error)) cannot_write(path, "cannot be made", error);
  return path;
}

void CheckpointCatalogue::commit(const fs::path& in_flight, std::int64_t step) const {
  rename_or_fail(in_flight, path_of(step));
}

void CheckpointCatalogue::discard(const fs::path& in_flight) const {
  delete_folder(in_flight);
}

void CheckpointCatalogue::hint_latest(std::int64_t step) const {
  try {
    write_file_atomically(folder_ / "LATEST", step_folder_name(step) + "\n");
  } catch (const Error& error) {
    log_warning(error.what());
  }
}

fs::path CheckpointCatalogue::put_aside_as(std::int64_t step, const std::string& suffix) const {
  const fs::path aside = free_name(folder_, step_folder_name(step) + suffix);
  std::error_code error;
  fs::rename(path_of(step), aside, error);
  if (error) cannot_write(path_of(step), "cannot be put aside", error);
  fsync_path(folder_);
  return aside;
}

void CheckpointCatalogue::put_aside_as_bad(std::int64_t step, const std::string& reason) const {
  const fs::path record = folder_ / "BAD";
  const fs::path aside = put_aside_as(step, ".bad");
  // Not the end yet: the one before is tried, and where there is none, that is the error.
  log_warning(fmt::format("{}: damaged, will not be used: {}. Kept as {}", path_of(step).string(), reason,
                          aside.filename().string()));
  std::string lines = fs::exists(record) ? read_file(record, small_file_bytes) : "";
  const Json line = {
      {"step", step}, {"folder", aside.filename().string()}, {"found", utc_now()}, {"reason", reason}};
  lines += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  write_file_atomically(record, lines);
}

void CheckpointCatalogue::put_aside_as_superseded(std::int64_t step) const {
  const fs::path aside = put_aside_as(step, ".superseded");
  log_warning(fmt::format("{}: the run went on from an earlier step; kept as {}, may be deleted",
                          path_of(step).string(), aside.filename().string()));
}

void CheckpointCatalogue::remove(std::int64_t step) const {
  const fs::path bin = free_name(folder_, ".trash-" + step_folder_name(step));
  std::error_code error;
  fs::rename(path_of(step), bin, error);
  if (error) {
    log_warning(fmt::format("{}: cannot be deleted: {}", path_of(step).string(), error.message()));
    return;
  }
  delete_folder(bin);
}

void CheckpointCatalogue::mark_best(const BestMark& mark) const {
  const Json json = {{"step", mark.step}, {"loss", mark.loss}};
  write_file_atomically(folder_ / "BEST", json.dump() + "\n");
}

std::optional<BestMark> CheckpointCatalogue::best() const {
  const fs::path file = folder_ / "BEST";
  if (!fs::exists(file)) return std::nullopt;
  try {
    const Json json = parse_json(read_file(file, small_file_bytes), file.string());
    const BestMark mark{json.at("step").get<std::int64_t>(),
                        json.at("loss").is_number() ? json.at("loss").get<double>() : 0.0};
    if (mark.step >= 0 && fs::exists(path_of(mark.step) / manifest_file)) return mark;
  } catch (const std::exception& error) {
    log_warning(fmt::format("{}: not used: {}", file.string(), error.what()));
  }
  return std::nullopt;
}

std::set<std::int64_t> CheckpointCatalogue::pinned() const {
  std::set<std::int64_t> steps;
  const fs::path file = folder_ / "PINNED";
  if (!fs::exists(file)) return steps;
  std::istringstream lines(read_file(file, small_file_bytes));
  for (std::string line; std::getline(lines, line);) {
    line.erase(0, line.find_first_not_of(" \t\r"));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    if (line.empty() || line[0] == '#') continue;
    if (const auto step = step_in_line(line)) {
      steps.insert(*step);
    } else {
      log_warning(fmt::format("{}: \"{}\" is not a step", file.string(), line));
    }
  }
  return steps;
}

}  // namespace charter
