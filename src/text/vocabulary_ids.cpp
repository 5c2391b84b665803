// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unordered_map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"
#include "src/text/tokenizer_definition.hpp"

namespace charter {
namespace {

using NamedId = std::pair<long long, std::string_view>;

constexpr std::size_t shown = 5;

// "what: a, b, c, d, e and 7 more".
void fail_with_list(const std::string& where, std::string_view what, const std::vector<std::string>& items,
                    std::string_view advice) {
  const std::size_t count = std::min(items.size(), shown);
  const std::vector<std::string> first(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(count));
  const std::string more = items.size() > count ? fmt::format(" and {} more", items.size() - count) : "";
  fail(ExitCode::bad_input,
       fmt::format("{}: {}: {}{}; {}", where, what, fmt::join(first, ", "), more, advice));
}

void check_added_against_vocabulary(const std::vector<std::pair<std::string, long long>>& vocabulary,
                                    const std::vector<AddedToken>& added, const std::string& where) {
  std::unordered_map<std::string_view, long long> added_id;
  std::vector<std::string> wrong;
  for (const AddedToken& token : added) {
    const auto [known, is_new] = added_id.emplace(token.content, token.id);
    if (!is_new && known->second != token.id) {
      wrong.push_back(fmt::format("\"{}\" has the ids {} and {}", token.content, known->second, token.id));
    }
  }
  for (const auto& [token, id] : vocabulary) {
    const auto known = added_id.find(token);
    if (known != added_id.end() && known->second != id) {
      wrong.push_back(fmt::format("\"{}\" has id {}, in the vocabulary {}", token, known->second, id));
    }
  }
  if (!wrong.empty()) {
    fail_with_list(where, "added tokens with two ids", wrong, "one of them is from another model");
  }
}

// Every (id, token) once, sorted by id.
std::vector<NamedId> all_ids(const std::vector<std::pair<std::string, long long>>& vocabulary,
                             const std::vector<AddedToken>& added) {
  std::vector<NamedId> ids;
  ids.reserve(vocabulary.size() + added.size());
  for (const auto& [token, id] : vocabulary) ids.emplace_back(id, token);
  for (const AddedToken& token : added) ids.emplace_back(token.id, token.content);
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

void check_ids(const std::vector<NamedId>& ids, const std::string& where) {
  std::vector<std::string> negative, doubled, missing;
  long long expected = 0;
  std::size_t missing_count = 0;
  for (std::size_t index = 0; index < ids.size(); ++index) {
    const auto& [id, token] = ids[index];
    if (id < 0) {
      negative.push_back(fmt::format("\"{}\" = {}", token, id));
      continue;
    }
    if (index > 0 && ids[index - 1].first == id) {
      doubled.push_back(fmt::format("{} = \"{}\" and \"{}\"", id, ids[index - 1].second, token));
      continue;
    }
    // A gap may be two thousand million wide: count it, list its start.
    missing_count += static_cast<std::size_t>(id - expected);
    for (; expected < id && missing.size() < shown; ++expected) missing.push_back(std::to_string(expected));
    expected = id + 1;
  }
  if (!negative.empty()) fail_with_list(where, "negative token ids", negative, "ids count from 0");
  if (!doubled.empty())
    fail_with_list(where, "token ids that stand for two tokens", doubled, "an id has one meaning");
  if (missing_count > 0) {
    const std::string what =
        fmt::format("{} of the ids 0..{} belong to no token", missing_count, expected - 1);
    fail_with_list(where, what, missing, "the file is incomplete, or its added_tokens are missing");
  }
}

}  // namespace

std::vector<std::string> vocabulary_by_id(const std::vector<std::pair<std::string, long long>>& vocabulary,
                                          const std::vector<AddedToken>& added, const std::string& where) {
  check_added_against_vocabulary(vocabulary, added, where);
  const std::vector<NamedId> ids = all_ids(vocabulary, added);
  check_ids(ids, where);
  std::vector<std::string> by_id(ids.size());
  for (const auto& [token, id] : vocabulary) by_id[static_cast<std::size_t>(id)] = token;
  return by_id;
}

}  // namespace charter
