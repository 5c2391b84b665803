// SPDX-License-Identifier: Apache-2.0
// The flight recorder of one process: a ring of its last 4,096 communication calls, with what is still open
// kept apart, so that the watchdog and a report can say which call a rank is in and where the source made it.
// It also holds the current phase and step. Thread-safe; no MPI in here. An entry costs a short lock.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include "modules/comm/buffer.hpp"

namespace charter {

// Where the source called. Every communication call takes it as a defaulted last argument.
using CallSite = std::source_location;

enum class Operation : std::uint8_t {
  create,
  broadcast,
  all_reduce,
  all_gather,
  all_gather_v,
  gather,
  all_to_all,
  all_to_all_v,
  reduce_scatter,
  reduce_scatter_v,
  barrier,
  send,
  receive,
  finalize
};
inline constexpr int num_operations = 14;
std::string_view to_string(Operation operation);
inline bool is_point_to_point(Operation operation) {
  return operation == Operation::send || operation == Operation::receive;
}

// Calls and payload of one rank. Payload = bytes of this rank's send buffer (of the received one for receive,
// of the buffer on every rank for broadcast); 0 for a group of one.
struct CommunicatorTotals {
  struct Line {
    std::int64_t calls = 0;
    std::int64_t bytes = 0;
  };
  Line by_operation[num_operations];

  std::int64_t calls() const;
  std::int64_t bytes() const;
  Line& of(Operation operation) { return by_operation[static_cast<int>(operation)]; }
  const Line& of(Operation operation) const { return by_operation[static_cast<int>(operation)]; }
};

struct LogEntry {
  using Clock = std::chrono::steady_clock;

  std::uint64_t ticket = 0;   // number in this process, from 1
  std::int64_t sequence = 0;  // number in its communicator, from 1; point to point counts apart
  int communicator = 0;       // index of CollectiveLog::register_communicator
  Operation operation = Operation::barrier;
  ElementType type = ElementType::u8;
  bool nonblocking = false;
  int peer = -1;           // root or other end, in the communicator's ranks
  std::int64_t count = 0;  // elements
  CallSite where;
  Clock::time_point enter{};
  Clock::time_point wait_since{};  // a blocking call: enter; a Request: when wait_host() began; else zero
  Clock::time_point exit{};        // zero while open
};

// Whose dump it is, and why it was written.
struct DumpIdentity {
  std::string job_token;
  int world_rank = 0;
  int world_size = 1;
  std::string reason;
};

class CollectiveLog {
 public:
  static constexpr std::size_t ring_size = 4096;

  // Local, all of them.
  // A communicator's line in the dump; returns its index. `id` is Communicator::id().
  int register_communicator(const std::string& name, const std::string& id, int rank, int size);

  // Enters `entry` (its ticket and enter time are set here) and returns the ticket.
  std::uint64_t enter(LogEntry entry);
  void begin_wait(std::uint64_t ticket);
  void exit(std::uint64_t ticket);

  void set_phase(const std::string& phase);
  std::string phase() const;
  void set_step(std::int64_t step);
  // The current phase may wait longer than --hang-timeout (loading, saving). Zero: no own deadline.
  void set_phase_deadline(std::chrono::milliseconds deadline);
  std::chrono::milliseconds phase_deadline() const;

  // The entry that has been waited for the longest, if any rank is being waited for now.
  std::optional<LogEntry> oldest_wait() const;
  // "all_reduce number 17 of data (4 ranks, 1024 x f32) at file:line in function".
  std::string describe(const LogEntry& entry) const;
  // Entries still in the ring, oldest first, and all open ones.
  std::vector<LogEntry> tail() const;
  // The dump: identity, phase, step, communicators and tail(), times in Unix seconds. Read by
  // hang_report.hpp.
  std::string to_json(const DumpIdentity& identity) const;

 private:
  struct Registered {
    std::string name;
    std::string id;
    int rank = 0;
    int size = 1;
    std::int64_t last_sequence = 0;
  };

  LogEntry* find_open(std::uint64_t ticket);

  mutable std::mutex mutex_;
  std::vector<LogEntry> ring_;
  std::vector<LogEntry> open_;
  std::vector<Registered> communicators_;
  std::uint64_t next_ticket_ = 1;
  std::string phase_ = "start";
  std::int64_t step_ = -1;
  std::chrono::milliseconds phase_deadline_{0};
};

// Names the phase (and optionally its own deadline) for the lifetime of a block, then restores the former
// ones.
class ScopedPhase {
 public:
  ScopedPhase(CollectiveLog& log, const std::string& phase, std::chrono::milliseconds deadline = {});
  ~ScopedPhase();
  ScopedPhase(const ScopedPhase&) = delete;
  ScopedPhase& operator=(const ScopedPhase&) = delete;

 private:
  CollectiveLog& log_;
  std::string former_;
  std::chrono::milliseconds former_deadline_;
};

}  // namespace charter
