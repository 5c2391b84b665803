// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/same_texts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/job_abort.hpp"
#include "src/base/file.hpp"
#include "src/base/fingerprint.hpp"
#include "src/base/message_text.hpp"

namespace charter {
namespace {

constexpr std::size_t most_names = 8;
constexpr std::size_t most_ranks = 8;
constexpr std::size_t longest_text = 80;

// Neither end can stand in a name or a value of an option.
constexpr char text_end = '\0';
constexpr char name_end = '\1';

std::string packed(const std::vector<NamedText>& texts) {
  std::string all;
  for (const NamedText& one : texts) all += one.name + name_end + one.text + text_end;
  return all;
}

std::map<std::string, std::string> unpacked(std::string_view all) {
  std::map<std::string, std::string> texts;
  while (!all.empty()) {
    const std::string_view one = all.substr(0, all.find(text_end));
    const std::size_t end = one.find(name_end);
    texts.emplace(one.substr(0, end), one.substr(end + 1));
    all.remove_prefix(one.size() + 1);
  }
  return texts;
}

std::string list_of(const std::vector<int>& ranks) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(ranks.size(), most_ranks));
  return fmt::format("rank{} {}{}", ranks.size() > 1 ? "s" : "",
                     fmt::join(ranks.begin(), ranks.begin() + shown, ", "),
                     ranks.size() > most_ranks ? fmt::format(" and {} more", ranks.size() - most_ranks) : "");
}

// The ranks by their text, the largest party first; among equals the one with the lowest rank.
using Parties = std::vector<std::pair<std::string, std::vector<int>>>;

Parties parties_of(const std::vector<std::map<std::string, std::string>>& of_rank, const std::string& name) {
  std::map<std::string, std::vector<int>> ranks_by_text;
  for (std::size_t rank = 0; rank < of_rank.size(); ++rank) {
    const auto found = of_rank[rank].find(name);
    const std::string shown = found == of_rank[rank].end() ? "nothing" : fmt::format("\"{}\"", found->second);
    ranks_by_text[shown].push_back(static_cast<int>(rank));
  }
  Parties parties(ranks_by_text.begin(), ranks_by_text.end());
  std::sort(parties.begin(), parties.end(), [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() > b.second.size() : a.second[0] < b.second[0];
  });
  return parties;
}

// "--seed: ranks 0, 1, 3 have "1", rank 2 has "9""
std::string described(const std::string& name, const Parties& parties) {
  std::string text = name + ": ";
  for (std::size_t i = 0; i < parties.size() && i < most_ranks; ++i) {
    const auto& [value, ranks] = parties[i];
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", list_of(ranks), ranks.size() > 1 ? "have" : "has",
                        shortened(value, longest_text));
  }
  return text;
}

bool all_equal(const Communicator& group, const Fingerprint& mine, CallSite where) {
  // The least of x and of its complement: equal everywhere when these are each other's complement.
  std::array<std::uint64_t, 4> words = {mine.high, mine.low, ~mine.high, ~mine.low};
  group.all_reduce(words, ReduceOp::min, where);
  return words[0] == ~words[2] && words[1] == ~words[3];
}

}  // namespace

void same_texts_everywhere(const Communicator& group, std::string_view what,
                           const std::vector<NamedText>& texts, std::string_view cure, CallSite where) {
  if (group.planned()) return;
  const std::string mine = packed(texts);
  const auto* bytes = reinterpret_cast<const unsigned char*>(mine.data());
  if (all_equal(group, fingerprint_of_bytes({bytes, mine.size()}), where)) return;
  std::vector<std::map<std::string, std::string>> of_rank;
  std::set<std::string> names;
  for (const std::string& all : all_gather_text(group, mine, where)) {
    of_rank.push_back(unpacked(all));
    for (const auto& [name, text] : of_rank.back()) names.insert(name);
  }
  std::string message = fmt::format("{} differ between ranks:", what);
  int odd = group.size();
  std::size_t differing = 0;
  for (const std::string& name : names) {
    const Parties parties = parties_of(of_rank, name);
    if (parties.size() == 1) continue;
    for (std::size_t i = 1; i < parties.size(); ++i) odd = std::min(odd, parties[i].second[0]);
    if (++differing <= most_names) message += "\n  " + described(name, parties);
  }
  if (differing > most_names) message += fmt::format("\n  and {} more", differing - most_names);
  message += fmt::format("\n  {}", cure);
  note_error({ExitCode::configuration, message});
  throw AgreedError(ExitCode::configuration, message, odd, group.rank() == 0);
}

NamedText program_text() {
  const MappedFile file("/proc/self/exe");
  // By words of eight bytes: a fingerprint byte by byte takes eight times as long. An executable's few last
  // bytes are its section table's end.
  const std::span words(reinterpret_cast<const double*>(file.bytes().data()),
                        file.bytes().size() / sizeof(double));
  return {"program", fmt::format("{} bytes, fingerprint {}", file.size(), fingerprint_of(words, 0).hex())};
}

}  // namespace charter
