// SPDX-License-Identifier: Apache-2.0
// Reads the dumps of a hang and says which rank is the odd one: per communicator, who waits in which call,
// who is behind, where the calls first differ, and who left no dump. No MPI.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace charter {

struct DumpedCall {
  int communicator = 0;
  std::int64_t sequence = 0;
  std::string text;   // "broadcast of 1024 x f32, peer or root 0"
  std::string where;  // "file:line"
  bool point_to_point = false;
  bool waiting = false;
};

struct DumpedCommunicator {
  std::string id;
  int rank = 0;
  int size = 1;
  std::int64_t last_sequence = 0;
};

struct HangDump {
  int world_rank = 0;
  int world_size = 1;
  std::string reason;  // why it was written
  std::string phase;
  std::int64_t step = -1;
  std::vector<DumpedCommunicator> communicators;
  std::vector<DumpedCall> calls;  // oldest first
};

// Local. Text of CollectiveLog::to_json; `where` names it in messages. Throws Error(bad_input).
HangDump parse_dump(const std::string& text, const std::string& where);

// Local. hang.<rank>.json of the ranks that left one; those of another job (`job_token`, if given) are left
// out.
std::vector<HangDump> read_dumps(const std::filesystem::path& folder, int world_size,
                                 const std::optional<std::string>& job_token);

// Local. A few lines for a person.
std::string diagnose_hang(const std::vector<HangDump>& dumps);

// Local. The ranks that the others wait for, ascending: those without a dump, else those that are behind and
// wait for nobody themselves. None where all wait for each other, which is no node's fault.
std::vector<int> suspected_ranks(const std::vector<HangDump>& dumps);

}  // namespace charter
