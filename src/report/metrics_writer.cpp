// SPDX-License-Identifier: Apache-2.0
#include "src/report/metrics_writer.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter {
namespace {

[[noreturn]] void give_up(const std::filesystem::path& file, const char* step) {
  fail(ExitCode::cannot_write, fmt::format("{}: {} failed: {}", file.string(), step, std::strerror(errno)));
}

// Whether a line, without its end, belongs to the steps that stay.
bool stays(std::string_view line, std::int64_t keep_through_step) {
  const nlohmann::json record = nlohmann::json::parse(line, nullptr, false);
  if (!record.is_object()) return false;
  const auto step = record.find("step");
  return step != record.end() && step->is_number_integer() && step->get<std::int64_t>() <= keep_through_step;
}

struct Scan {
  std::string kept;                // the lines that stay, together
  std::int64_t dropped_lines = 0;  // a torn last line counts as one
  bool is_prefix = true;           // what stays is the beginning of the file
};

Scan scan_lines(std::string_view text, std::int64_t keep_through_step) {
  Scan scan;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool complete = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    if (complete && stays(line, keep_through_step)) {
      scan.is_prefix = scan.is_prefix && scan.dropped_lines == 0;
      scan.kept.append(line).push_back('\n');
    } else {
      ++scan.dropped_lines;
    }
    text.remove_prefix(complete ? end + 1 : text.size());
  }
  return scan;
}

// Brings the file to the lines that stay. Returns the number of lines dropped.
std::int64_t cut_file(const std::filesystem::path& file, std::int64_t keep_through_step) {
  std::error_code ignored;  // what is in the way shows itself when the file is opened
  if (!std::filesystem::is_regular_file(file, ignored)) return 0;
  Scan scan;
  {
    const MappedFile old(file);
    const std::string_view text(reinterpret_cast<const char*>(old.bytes().data()), old.bytes().size());
    scan = scan_lines(text, keep_through_step);
  }
  if (scan.dropped_lines == 0) return 0;
  if (scan.is_prefix) {
    // Shortening in place is one step for the file system, and needs no second copy.
    if (::truncate(file.c_str(), static_cast<off_t>(scan.kept.size())) != 0) give_up(file, "shortening");
  } else {
    write_file_atomically(file, scan.kept);
  }
  return scan.dropped_lines;
}

}  // namespace

MetricsWriter::MetricsWriter(const std::filesystem::path& file, std::int64_t keep_through_step)
    : file_(file), dropped_lines_(cut_file(file, keep_through_step)) {
  descriptor_ = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor_ < 0) give_up(file_, "opening");
}

MetricsWriter::~MetricsWriter() {
  ::close(descriptor_);
}

void MetricsWriter::write(std::int64_t step, std::span<const Metric> metrics) {
  std::vector<Metric> values{{"step", step}};
  values.insert(values.end(), metrics.begin(), metrics.end());
  const std::string line = json_line(values);
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t put = ::write(descriptor_, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) give_up(file_, "writing");
    done += static_cast<std::size_t>(put);
  }
}

void MetricsWriter::sync() {
  if (::fsync(descriptor_) != 0) give_up(file_, "fsync");
}

}  // namespace charter
