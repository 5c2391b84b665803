// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/collective_log.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace charter {

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::create:
      return "create";
    case Operation::broadcast:
      return "broadcast";
    case Operation::all_reduce:
      return "all_reduce";
    case Operation::all_gather:
      return "all_gather";
    case Operation::all_gather_v:
      return "all_gather_v";
    case Operation::gather:
      return "gather";
    case Operation::all_to_all:
      return "all_to_all";
    case Operation::all_to_all_v:
      return "all_to_all_v";
    case Operation::reduce_scatter:
      return "reduce_scatter";
    case Operation::reduce_scatter_v:
      return "reduce_scatter_v";
    case Operation::barrier:
      return "barrier";
    case Operation::send:
      return "send";
    case Operation::receive:
      return "receive";
    case Operation::finalize:
      return "finalize";
  }
  return "?";
}

std::int64_t CommunicatorTotals::calls() const {
  std::int64_t sum = 0;
  for (const Line& line : by_operation) sum += line.calls;
  return sum;
}

std::int64_t CommunicatorTotals::bytes() const {
  std::int64_t sum = 0;
  for (const Line& line : by_operation) sum += line.bytes;
  return sum;
}

int CollectiveLog::register_communicator(const std::string& name, const std::string& id, int rank, int size) {
  const std::lock_guard lock(mutex_);
  communicators_.push_back({name, id, rank, size, 0});
  return static_cast<int>(communicators_.size()) - 1;
}

std::uint64_t CollectiveLog::enter(LogEntry entry) {
  entry.enter = LogEntry::Clock::now();
  if (!entry.nonblocking) entry.wait_since = entry.enter;
  const std::lock_guard lock(mutex_);
  // Made at the first call: the many communicators of a plan make none.
  if (ring_.empty()) ring_.resize(ring_size);
  entry.ticket = next_ticket_++;
  if (!is_point_to_point(entry.operation)) {
    communicators_[static_cast<std::size_t>(entry.communicator)].last_sequence = entry.sequence;
  }
  ring_[entry.ticket % ring_size] = entry;
  open_.push_back(entry);
  return entry.ticket;
}

LogEntry* CollectiveLog::find_open(std::uint64_t ticket) {
  const auto found =
      std::find_if(open_.begin(), open_.end(), [&](const LogEntry& entry) { return entry.ticket == ticket; });
  return found == open_.end() ? nullptr : &*found;
}

void CollectiveLog::begin_wait(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  if (LogEntry* entry = find_open(ticket)) entry->wait_since = LogEntry::Clock::now();
}

void CollectiveLog::exit(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  if (LogEntry* entry = find_open(ticket)) {
    *entry = open_.back();
    open_.pop_back();
  }
  if (ring_.empty()) return;
  LogEntry& kept = ring_[ticket % ring_size];
  if (kept.ticket == ticket) kept.exit = LogEntry::Clock::now();
}

void CollectiveLog::set_phase(const std::string& phase) {
  const std::lock_guard lock(mutex_);
  phase_ = phase;
}

std::string CollectiveLog::phase() const {
  const std::lock_guard lock(mutex_);
  return phase_;
}

void CollectiveLog::set_step(std::int64_t step) {
  const std::lock_guard lock(mutex_);
  step_ = step;
}

void CollectiveLog::set_phase_deadline(std::chrono::milliseconds deadline) {
  const std::lock_guard lock(mutex_);
  phase_deadline_ = deadline;
}

std::chrono::milliseconds CollectiveLog::phase_deadline() const {
  const std::lock_guard lock(mutex_);
  return phase_deadline_;
}

std::optional<LogEntry> CollectiveLog::oldest_wait() const {
  const std::lock_guard lock(mutex_);
  std::optional<LogEntry> oldest;
  for (const LogEntry& entry : open_) {
    if (entry.wait_since == LogEntry::Clock::time_point{}) continue;
    if (!oldest || entry.wait_since < oldest->wait_since) oldest = entry;
  }
  return oldest;
}

std::string CollectiveLog::describe(const LogEntry& entry) const {
  const std::lock_guard lock(mutex_);
  const Registered& group = communicators_[static_cast<std::size_t>(entry.communicator)];
  const std::string peer = entry.peer < 0 ? std::string() : fmt::format(", peer or root {}", entry.peer);
  return fmt::format("{} number {} of '{}' (rank {} of {}; {} x {}{}) called at {}:{}",
                     to_string(entry.operation), entry.sequence, group.id, group.rank, group.size,
                     entry.count, to_string(entry.type), peer, entry.where.file_name(), entry.where.line());
}

std::vector<LogEntry> CollectiveLog::tail() const {
  const std::lock_guard lock(mutex_);
  std::vector<LogEntry> entries;
  for (const LogEntry& entry : ring_) {
    if (entry.ticket != 0) entries.push_back(entry);
  }
  // An open entry may have left the ring, and only the open copy knows since when it is waited for.
  for (const LogEntry& entry : open_) {
    std::erase_if(entries, [&](const LogEntry& kept) { return kept.ticket == entry.ticket; });
    entries.push_back(entry);
  }
  std::sort(entries.begin(), entries.end(),
            [](const LogEntry& a, const LogEntry& b) { return a.ticket < b.ticket; });
  return entries;
}

std::string CollectiveLog::to_json(const DumpIdentity& identity) const {
  const std::vector<LogEntry> entries = tail();
  const auto steady_now = LogEntry::Clock::now();
  const double unix_now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto unix_seconds = [&](LogEntry::Clock::time_point time) {
    return unix_now - std::chrono::duration<double>(steady_now - time).count();
  };
  nlohmann::ordered_json root;
  root["job"] = identity.job_token;
  root["world_rank"] = identity.world_rank;
  root["world_size"] = identity.world_size;
  root["reason"] = identity.reason;
  root["time"] = unix_now;
  const std::lock_guard lock(mutex_);
  root["phase"] = phase_;
  root["step"] = step_;
  root["communicators"] = nlohmann::ordered_json::array();
  for (const Registered& group : communicators_) {
    root["communicators"].push_back({{"name", group.name},
                                     {"id", group.id},
                                     {"rank", group.rank},
                                     {"size", group.size},
                                     {"last_sequence", group.last_sequence}});
  }
  root["calls"] = nlohmann::ordered_json::array();
  for (const LogEntry& entry : entries) {
    nlohmann::ordered_json line = {
        {"communicator", entry.communicator},
        {"sequence", entry.sequence},
        {"operation", to_string(entry.operation)},
        {"nonblocking", entry.nonblocking},
        {"count", entry.count},
        {"type", to_string(entry.type)},
        {"peer", entry.peer},
        {"where", fmt::format("{}:{}", entry.where.file_name(), entry.where.line())},
        {"enter", unix_seconds(entry.enter)}};
    const bool open = entry.exit == LogEntry::Clock::time_point{};
    line["open"] = open;
    if (!open) line["exit"] = unix_seconds(entry.exit);
    if (open && entry.wait_since != LogEntry::Clock::time_point{}) {
      line["waited_s"] = std::chrono::duration<double>(steady_now - entry.wait_since).count();
    }
    root["calls"].push_back(std::move(line));
  }
  return root.dump(1) + "\n";
}

ScopedPhase::ScopedPhase(CollectiveLog& log, const std::string& phase, std::chrono::milliseconds deadline)
    : log_(log), former_(log.phase()), former_deadline_(log.phase_deadline()) {
  log_.set_phase(phase);
  if (deadline.count() > 0) log_.set_phase_deadline(deadline);
}

ScopedPhase::~ScopedPhase() {
  log_.set_phase(former_);
  log_.set_phase_deadline(former_deadline_);
}

}  // namespace charter
