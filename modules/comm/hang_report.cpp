// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/hang_report.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/base/json.hpp"

namespace charter {
namespace {

// One rank's view of one communicator.
struct Member {
  int world_rank = 0;
  int size = 1;
  std::int64_t last_sequence = 0;
  std::string phase;
  const DumpedCall* waiting = nullptr;
  std::map<std::int64_t, const DumpedCall*> calls;
};

std::map<std::string, std::vector<Member>> members_by_communicator(const std::vector<HangDump>& dumps) {
  std::map<std::string, std::vector<Member>> groups;
  for (const HangDump& dump : dumps) {
    std::vector<Member> mine;
    for (const DumpedCommunicator& group : dump.communicators) {
      mine.push_back({dump.world_rank, group.size, group.last_sequence, dump.phase, nullptr, {}});
    }
    for (const DumpedCall& call : dump.calls) {
      if (call.communicator < 0 || call.communicator >= static_cast<int>(mine.size())) continue;
      Member& member = mine[static_cast<std::size_t>(call.communicator)];
      if (call.waiting) member.waiting = &call;
      if (!call.point_to_point) member.calls[call.sequence] = &call;
    }
    for (std::size_t i = 0; i < mine.size(); ++i)
      groups[dump.communicators[i].id].push_back(std::move(mine[i]));
  }
  return groups;
}

std::vector<int> ranks_without_a_dump(const std::vector<HangDump>& dumps) {
  std::vector<int> missing;
  for (int rank = 0; rank < dumps.front().world_size; ++rank) {
    const auto is_rank = [&](const HangDump& dump) { return dump.world_rank == rank; };
    if (std::none_of(dumps.begin(), dumps.end(), is_rank)) missing.push_back(rank);
  }
  return missing;
}

bool waits(const HangDump& dump) {
  return std::any_of(dump.calls.begin(), dump.calls.end(),
                     [](const DumpedCall& call) { return call.waiting; });
}

// The first call number that two members made differently, both still remembering it.
std::string first_difference(const std::vector<Member>& members) {
  for (const auto& [sequence, call] : members.front().calls) {
    for (const Member& other : members) {
      const auto found = other.calls.find(sequence);
      if (found == other.calls.end() || found->second->text == call->text) continue;
      return fmt::format("\n  calls first differ at number {}: rank {} made {} at {}, rank {} made {} at {}",
                         sequence, members.front().world_rank, call->text, call->where, other.world_rank,
                         found->second->text, found->second->where);
    }
  }
  return "";
}

// What one communicator shows; empty when nobody waits in it.
std::string diagnose_group(const std::string& id, const std::vector<Member>& members) {
  std::map<std::string, std::vector<int>> waiting;
  std::int64_t furthest = 0;
  for (const Member& member : members) {
    furthest = std::max(furthest, member.last_sequence);
    if (member.waiting == nullptr) continue;
    waiting[fmt::format("{}, number {}, called at {}", member.waiting->text, member.waiting->sequence,
                        member.waiting->where)]
        .push_back(member.world_rank);
  }
  if (waiting.empty() || members.front().size == 1) return "";
  std::string text = fmt::format("\n'{}' ({} ranks):", id, members.front().size);
  for (const auto& [call, ranks] : waiting) {
    text += fmt::format("\n  rank{} {} wait{} in {}", ranks.size() > 1 ? "s" : "", fmt::join(ranks, ", "),
                        ranks.size() > 1 ? "" : "s", call);
  }
  for (const Member& member : members) {
    if (member.last_sequence == furthest) continue;
    text += fmt::format("\n  rank {} is behind: its last call here is number {} of {}, in phase '{}'",
                        member.world_rank, member.last_sequence, furthest, member.phase);
  }
  return text + first_difference(members);
}

}  // namespace

HangDump parse_dump(const std::string& text, const std::string& where) {
  const Json root = parse_json(text, where);
  try {
    HangDump dump;
    dump.world_rank = root.at("world_rank").get<int>();
    dump.world_size = root.at("world_size").get<int>();
    dump.reason = root.at("reason").get<std::string>();
    dump.phase = root.at("phase").get<std::string>();
    dump.step = root.at("step").get<std::int64_t>();
    for (const Json& group : root.at("communicators")) {
      dump.communicators.push_back({group.at("id").get<std::string>(), group.at("rank").get<int>(),
                                    group.at("size").get<int>(),
                                    group.at("last_sequence").get<std::int64_t>()});
    }
    for (const Json& call : root.at("calls")) {
      const auto operation = call.at("operation").get<std::string>();
      const int peer = call.at("peer").get<int>();
      dump.calls.push_back({call.at("communicator").get<int>(), call.at("sequence").get<std::int64_t>(),
                            fmt::format("{} of {} x {}{}", operation, call.at("count").get<std::int64_t>(),
                                        call.at("type").get<std::string>(),
                                        peer < 0 ? "" : fmt::format(", peer or root {}", peer)),
                            call.at("where").get<std::string>(),
                            operation == "send" || operation == "receive", call.contains("waited_s")});
    }
    return dump;
  } catch (const Json::exception& error) {
    fail(ExitCode::bad_input, fmt::format("{}: not a dump of a hang: {}", where, error.what()));
  }
}

std::vector<HangDump> read_dumps(const std::filesystem::path& folder, int world_size,
                                 const std::optional<std::string>& job_token) {
  std::vector<HangDump> dumps;
  for (int rank = 0; rank < world_size; ++rank) {
    const std::filesystem::path path = folder / fmt::format("hang.{}.json", rank);
    if (!std::filesystem::exists(path)) continue;
    const std::string text = read_file(path, std::int64_t{1} << 28);
    if (job_token && parse_json(text, path.string()).value("job", std::string()) != *job_token) continue;
    dumps.push_back(parse_dump(text, path.string()));
  }
  return dumps;
}

std::string diagnose_hang(const std::vector<HangDump>& dumps) {
  if (dumps.empty()) return "hang: no rank left a dump";
  std::string text = "hang, as the dumps of the ranks show it:";
  const std::vector<int> missing = ranks_without_a_dump(dumps);
  for (const auto& [id, members] : members_by_communicator(dumps)) text += diagnose_group(id, members);
  if (!missing.empty()) {
    const std::size_t shown = std::min<std::size_t>(missing.size(), 16);
    text +=
        fmt::format("\n  without a dump (dead, stopped, or its node cannot write): rank {}{}",
                    fmt::join(missing.begin(), missing.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
                    shown < missing.size() ? fmt::format(" and {} more", missing.size() - shown) : "");
  }
  return text;
}

std::vector<int> suspected_ranks(const std::vector<HangDump>& dumps) {
  if (dumps.empty()) return {};
  std::vector<int> suspects = ranks_without_a_dump(dumps);
  if (!suspects.empty()) return suspects;
  for (const HangDump& dump : dumps) {
    if (!waits(dump)) suspects.push_back(dump.world_rank);
  }
  std::sort(suspects.begin(), suspects.end());
  return suspects;
}

}  // namespace charter
