// SPDX-License-Identifier: Apache-2.0
#include "src/text/byte_pair_model.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/src/text/toy_tokenizers.hpp"

namespace charter {
namespace {

struct RandomModel {
  TokenizerDefinition definition;
  std::vector<std::string> pieces;
  std::map<std::pair<std::string, std::string>, int> ranks;
};

// Merges of random pairs of known tokens over the letters a to c: deep, and full of overlaps.
RandomModel random_model(unsigned seed, int merge_count) {
  RandomModel model;
  for (int byte = 0; byte < 256; ++byte) {
    model.pieces.push_back(std::string(1, static_cast<char>(byte)));
    model.definition.vocabulary.push_back(to_byte_alphabet(model.pieces.back()));
  }
  std::vector<std::string> known = {"a", "b", "c"};
  std::map<std::string, bool> seen;
  for (int attempt = 0; static_cast<int>(model.definition.merges.size()) < merge_count && attempt < 10000;
       ++attempt) {
    seed = seed * 1664525U + 1013904223U;
    const std::string& left = known[(seed >> 8) % known.size()];
    const std::string& right = known[(seed >> 20) % known.size()];
    if (left.size() + right.size() > 12 || seen[left + right]) continue;
    seen[left + right] = true;
    model.ranks[{left, right}] = static_cast<int>(model.definition.merges.size());
    model.definition.merges.emplace_back(left, right);
    model.definition.vocabulary.push_back(left + right);
    model.pieces.push_back(left + right);
    known.push_back(left + right);
  }
  return model;
}

// The definition taken literally: the pair of lowest rank, leftmost of equals, again and again.
std::vector<std::string> merge_literally(const RandomModel& model, const std::string& word) {
  std::vector<std::string> parts;
  for (const char c : word) parts.emplace_back(1, c);
  for (;;) {
    std::size_t best = parts.size();
    int best_rank = 1 << 30;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto rank = model.ranks.find({parts[i], parts[i + 1]});
      if (rank != model.ranks.end() && rank->second < best_rank) {
        best = i;
        best_rank = rank->second;
      }
    }
    if (best == parts.size()) return parts;
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(BytePairModel, ShortAndLongWordsMergeAsTheDefinitionSays) {
  unsigned state = 12345;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const RandomModel random = random_model(seed, 60);
    const BytePairModel model(random.definition, random.pieces, "random");
    BytePairModel::Workspace workspace;
    for (const std::size_t length : {1U, 2U, 3U, 7U, 20U, 47U, 48U, 49U, 100U, 400U}) {
      std::string word;
      while (word.size() < length) {
        state = state * 1664525U + 1013904223U;
        word.push_back(static_cast<char>('a' + (state >> 16) % 3));
      }
      for (int time = 0; time < 2; ++time) {  // the second time from the cache
        std::vector<TokenId> ids;
        model.encode_word(word, workspace, ids);
        std::vector<std::string> parts;
        for (const TokenId id : ids) parts.push_back(random.pieces[static_cast<std::size_t>(id)]);
        ASSERT_EQ(parts, merge_literally(random, word)) << "seed " << seed << " word " << word;
      }
    }
  }
}

TEST(BytePairModel, TakesAWholeWordWithIgnoreMerges) {
  RandomModel random = random_model(1, 0);
  random.definition.vocabulary.push_back("abc");
  random.pieces.push_back("abc");
  random.definition.merges = {{"a", "b"}, {"x", "absent"}};
  random.definition.vocabulary.push_back("ab");
  random.pieces.push_back("ab");
  random.definition.ignore_merges = true;
  const BytePairModel model(random.definition, random.pieces, "random");
  BytePairModel::Workspace workspace;
  std::vector<TokenId> ids;
  model.encode_word("abc", workspace, ids);
  model.encode_word("abd", workspace, ids);
  EXPECT_EQ(ids, (std::vector<TokenId>{256, 257, 'd'}));
}

TEST(WordCache, NeverConfusesWords) {
  WordCache cache;
  for (TokenId round = 0; round < 3; ++round) {
    for (TokenId id = 0; id < 50000; ++id) {
      const std::string word = std::to_string(id);
      const auto known = cache.find(word);
      ASSERT_TRUE(known.empty() || known[0] == id);
      cache.store(word, std::vector<TokenId>{id});
      ASSERT_EQ(cache.find(word).front(), id);
    }
  }
  const std::string longest(200, 'x');
  cache.store(longest, std::vector<TokenId>{1});
  EXPECT_TRUE(cache.find(longest).empty());
  cache.store("many", std::vector<TokenId>(20, 1));
  EXPECT_TRUE(cache.find("many").empty());
}

}  // namespace
}  // namespace charter
