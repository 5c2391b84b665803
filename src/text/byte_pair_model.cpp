// SPDX-License-Identifier: Apache-2.0
#include "src/text/byte_pair_model.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <queue>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"
#include "src/text/byte_alphabet.hpp"

namespace charter {
namespace {

// Longer words are merged by a queue: scanning costs the square of the length.
constexpr std::size_t longest_scanned = 48;

std::uint64_t pair_of(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) | static_cast<std::uint32_t>(right);
}

std::size_t slot_of(std::uint64_t pair, std::size_t slots) {
  // Fibonacci hashing: the high bits of the product depend on all bits of both ids.
  return static_cast<std::size_t>((pair * 0x9E3779B97F4A7C15ULL) >> 32) & (slots - 1);
}

// Bytes a vocabulary may do without: never part of UTF-8 (C0, C1, F5..FF), lead bytes of the planes above the
// first three (F1..F4), and control characters other than tab and line ends.
bool is_dispensable(unsigned byte) {
  if (byte == 0xC0 || byte == 0xC1 || byte >= 0xF1) return true;
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7F;
}

}  // namespace

BytePairModel::BytePairModel(const TokenizerDefinition& definition, const std::vector<std::string>& pieces,
                             const std::string& where)
    : ignore_merges_(definition.ignore_merges) {
  atoms_.fill(-1);
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    const std::string& piece = pieces[id];
    if (piece.size() == 1) atoms_[static_cast<unsigned char>(piece[0])] = static_cast<TokenId>(id);
    if (ignore_merges_ && !piece.empty()) whole_words_.emplace(piece, static_cast<TokenId>(id));
  }
  has_all_bytes_ = std::all_of(atoms_.begin(), atoms_.end(), [](TokenId id) { return id >= 0; });
  check_atoms(where);
  add_merges(definition, where);
}

void BytePairModel::check_atoms(const std::string& where) const {
  std::vector<std::string> missing;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (atoms_[byte] < 0 && !is_dispensable(byte)) {
      missing.push_back(
          fmt::format("{:02X} (\"{}\")", byte, to_byte_alphabet(std::string(1, static_cast<char>(byte)))));
    }
  }
  if (missing.empty()) return;
  const std::size_t count = missing.size();
  missing.resize(std::min<std::size_t>(count, 5));
  fail(ExitCode::bad_input,
       fmt::format("{}: {} bytes that text is made of have no token of their own: {}{}; the vocabulary is "
                   "not byte-level, "
                   "or written in another alphabet than GPT-2's",
                   where, count, fmt::join(missing, ", "), count > missing.size() ? ", ..." : ""));
}

void BytePairModel::add_merges(const TokenizerDefinition& definition, const std::string& where) {
  std::unordered_map<std::string_view, TokenId> id_of;
  id_of.reserve(definition.vocabulary.size());
  for (std::size_t id = 0; id < definition.vocabulary.size(); ++id) {
    id_of.emplace(definition.vocabulary[id], static_cast<TokenId>(id));
  }
  table_.resize(std::bit_ceil(std::max<std::size_t>(definition.merges.size() * 2, 16)));
  std::int32_t rank = 0;
  for (const auto& pieces : definition.merges) {
    const auto& [left, right] = pieces;
    const std::string whole = left + right;
    for (const std::string* part : {&left, &right, &whole}) {
      if (!id_of.contains(*part) && !ignore_merges_) {
        fail(ExitCode::bad_input,
             fmt::format("{}: merge {} (\"{} {}\") needs the token \"{}\", which the vocabulary lacks", where,
                         rank, left, right, *part));
      }
    }
    // With ignore_merges some models' files carry merges of tokens they do not have; these can never apply.
    const auto first = id_of.find(left), second = id_of.find(right), merged = id_of.find(whole);
    if (first != id_of.end() && second != id_of.end() && merged != id_of.end()) {
      insert({pair_of(first->second, second->second), rank, merged->second}, pieces, where);
    }
    ++rank;
  }
}

void BytePairModel::insert(const Merge& merge, const std::pair<std::string, std::string>& pieces,
                           const std::string& where) {
  std::size_t slot = slot_of(merge.pair, table_.size());
  while (table_[slot].merged >= 0) {
    if (table_[slot].pair == merge.pair) {
      fail(ExitCode::bad_input, fmt::format("{}: merge \"{} {}\" stands twice, at ranks {} and {}", where,
                                            pieces.first, pieces.second, table_[slot].rank, merge.rank));
    }
    slot = (slot + 1) & (table_.size() - 1);
  }
  table_[slot] = merge;
}

const BytePairModel::Merge* BytePairModel::find(TokenId left, TokenId right) const {
  const std::uint64_t pair = pair_of(left, right);
  std::size_t slot = slot_of(pair, table_.size());
  while (table_[slot].merged >= 0) {
    if (table_[slot].pair == pair) return &table_[slot];
    slot = (slot + 1) & (table_.size() - 1);
  }
  return nullptr;
}

std::int32_t BytePairModel::rank_of(TokenId left, TokenId right) const {
  const Merge* merge = find(left, right);
  return merge == nullptr ? no_rank : merge->rank;
}

void BytePairModel::encode_word(std::string_view word, Workspace& workspace,
                                std::vector<TokenId>& out) const {
  if (const std::span<const TokenId> known = workspace.cache.find(word); !known.empty()) {
    out.insert(out.end(), known.begin(), known.end());
    return;
  }
  std::vector<TokenId>& ids = workspace.ids;
  ids.clear();
  const auto whole = ignore_merges_ ? whole_words_.find(std::string(word)) : whole_words_.end();
  if (whole != whole_words_.end()) {
    ids.push_back(whole->second);
  } else {
    for (const char byte : word) ids.push_back(atoms_[static_cast<unsigned char>(byte)]);
    if (ids.size() <= longest_scanned) {
      merge_by_scanning(workspace);
    } else {
      merge_by_queue(workspace);
    }
  }
  workspace.cache.store(word, ids);
  out.insert(out.end(), ids.begin(), ids.end());
}

void BytePairModel::merge_by_scanning(Workspace& workspace) const {
  std::vector<TokenId>& ids = workspace.ids;
  std::vector<std::int32_t>& ranks = workspace.ranks;  // ranks[i] is of ids[i], ids[i + 1]
  ranks.clear();
  for (std::size_t i = 0; i + 1 < ids.size(); ++i) ranks.push_back(rank_of(ids[i], ids[i + 1]));
  while (!ranks.empty()) {
    const auto best = std::min_element(ranks.begin(), ranks.end());
    if (*best == no_rank) break;
    const std::ptrdiff_t at = best - ranks.begin();
    const auto i = static_cast<std::size_t>(at);
    ids[i] = find(ids[i], ids[i + 1])->merged;
    ids.erase(ids.begin() + at + 1);
    ranks.erase(best);
    if (i > 0) ranks[i - 1] = rank_of(ids[i - 1], ids[i]);
    if (i < ranks.size()) ranks[i] = rank_of(ids[i], ids[i + 1]);
  }
}

void BytePairModel::merge_by_queue(Workspace& workspace) const {
  // Candidates by (rank, place). One that no longer says what stands at its place is stale and is passed
  // over.
  using Candidate = std::tuple<std::int32_t, std::size_t, TokenId, TokenId>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  std::vector<TokenId>& ids = workspace.ids;
  const std::size_t count = ids.size();
  std::vector<std::size_t> next(count), previous(count);  // of the symbols still there; `count` ends the list
  for (std::size_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i == 0 ? count : i - 1;
  }
  const auto offer = [&](std::size_t left, std::size_t right) {
    const std::int32_t rank = rank_of(ids[left], ids[right]);
    if (rank != no_rank) queue.emplace(rank, left, ids[left], ids[right]);
  };
  for (std::size_t i = 0; i + 1 < count; ++i) offer(i, i + 1);
  constexpr TokenId gone = -1;
  while (!queue.empty()) {
    const auto [rank, left, left_id, right_id] = queue.top();
    queue.pop();
    const std::size_t right = next[left];
    if (ids[left] != left_id || right == count || ids[right] != right_id) continue;
    ids[left] = find(left_id, right_id)->merged;
    ids[right] = gone;
    next[left] = next[right];
    if (next[left] < count) {
      previous[next[left]] = left;
      offer(left, next[left]);
    }
    if (previous[left] < count) offer(previous[left], left);
  }
  std::erase(ids, gone);
}

}  // namespace charter
