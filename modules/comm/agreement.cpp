// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/agreement.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "modules/comm/failure.hpp"
#include "modules/comm/job_abort.hpp"

namespace charter {
namespace {

// Every rank throws the same error: rank `first` tells code, number of failures and message.
[[noreturn]] void throw_agreed(const Communicator& group, std::string_view phase, int first, Failure mine,
                               bool failed, CallSite where) {
  const int failures = group.all_reduce_value(failed ? 1 : 0, ReduceOp::sum, where);
  std::array<std::int64_t, 2> head = {static_cast<std::int64_t>(mine.code),
                                      static_cast<std::int64_t>(mine.message.size())};
  group.broadcast(head, first, where);
  std::string text = std::move(mine.message);
  text.resize(static_cast<std::size_t>(head[1]));
  group.broadcast(text, first, where);
  std::string message = fmt::format("{}: {}", phase, text);
  if (group.size() > 1) message = fmt::format("rank {} of {}: {}", first, group.size(), message);
  if (failures > 1) message += fmt::format(" ({} ranks failed here; this is the first)", failures);
  const auto code = static_cast<ExitCode>(head[0]);
  note_error({code, message});
  throw AgreedError(code, message, first, group.rank() == 0);
}

}  // namespace

void agree_on_failure(const Communicator& group, std::string_view phase, const std::exception_ptr& failure,
                      CallSite where) {
  if (group.planned()) {
    if (failure != nullptr) std::rethrow_exception(failure);
    return;
  }
  // The lowest failing rank wins; size() means that all went well.
  const int mine = failure == nullptr ? group.size() : group.rank();
  const int first = group.all_reduce_value(mine, ReduceOp::min, where);
  if (first == group.size()) return;
  throw_agreed(group, phase, first, failure == nullptr ? Failure{} : describe_failure(failure),
               failure != nullptr, where);
}

std::string agree_on_text(const Communicator& group, std::string_view phase,
                          const std::function<std::string()>& read, CallSite where) {
  std::string text = together(
      group, phase, [&] { return group.rank() == 0 || group.planned() ? read() : std::string(); }, where);
  auto length = static_cast<std::int64_t>(text.size());
  group.broadcast(one(length), 0, where);
  text.resize(static_cast<std::size_t>(length));
  group.broadcast(text, 0, where);
  return text;
}

std::vector<std::string> all_gather_text(const Communicator& group, std::string_view text, CallSite where) {
  const auto size = static_cast<std::size_t>(group.size());
  if (group.planned()) return std::vector<std::string>(size, std::string(text));
  const auto length = static_cast<std::int64_t>(text.size());
  std::vector<std::int64_t> lengths(size);
  group.all_gather(std::span(&length, 1), lengths, where);
  std::string all(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})),
                  '\0');
  group.all_gather_v(text, all, lengths, where);
  std::vector<std::string> texts;
  std::size_t offset = 0;
  for (const std::int64_t bytes : lengths) {
    texts.push_back(all.substr(offset, static_cast<std::size_t>(bytes)));
    offset += static_cast<std::size_t>(bytes);
  }
  return texts;
}

void same_everywhere(const Communicator& group, std::string_view what, const Fingerprint& fingerprint,
                     std::string_view cure, CallSite where) {
  if (group.planned()) return;
  const std::array<std::uint64_t, 2> mine = {fingerprint.high, fingerprint.low};
  std::vector<std::uint64_t> all(2 * static_cast<std::size_t>(group.size()));
  group.all_gather(mine, all, where);
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<int>> ranks_by_value;
  for (int rank = 0; rank < group.size(); ++rank) {
    const auto at = 2 * static_cast<std::size_t>(rank);
    ranks_by_value[{all[at], all[at + 1]}].push_back(rank);
  }
  if (ranks_by_value.size() == 1) return;
  // The larger party is taken for right; among equals, the one with the lowest rank.
  const auto majority = std::max_element(ranks_by_value.begin(), ranks_by_value.end(), [](auto& a, auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : a.second[0] > b.second[0];
  });
  std::string odd;
  int first = group.size();
  for (const auto& [value, ranks] : ranks_by_value) {
    if (value == majority->first) continue;
    first = std::min(first, ranks.front());
    const std::span listed(ranks.data(), std::min<std::size_t>(ranks.size(), 8));
    odd += fmt::format(
        "; rank{} {}{} has {:016x}{:016x}", ranks.size() > 1 ? "s" : "", fmt::join(listed, ", "),
        ranks.size() > listed.size() ? fmt::format(" and {} more", ranks.size() - listed.size()) : "",
        value.first, value.second);
  }
  const std::string message = fmt::format(
      "{} differs between ranks: {} of {} ranks have fingerprint {:016x}{:016x}{}. {}", what,
      majority->second.size(), group.size(), majority->first.first, majority->first.second, odd, cure);
  note_error({ExitCode::configuration, message});
  throw AgreedError(ExitCode::configuration, message, first, group.rank() == 0);
}

bool any_rank(const Communicator& group, bool flag, CallSite where) {
  return group.all_reduce_value(flag ? 1 : 0, ReduceOp::max, where) != 0;
}

}  // namespace charter
