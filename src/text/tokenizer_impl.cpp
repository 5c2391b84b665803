// SPDX-License-Identifier: Apache-2.0
// Encoding and decoding; construction and its checks are in tokenizer.cpp.
#include "src/text/tokenizer_impl.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/text/nfc.hpp"

namespace charter {

std::string short_quote(std::string_view text) {
  return text.size() <= 40 ? std::string(text) : std::string(text.substr(0, 40)) + "...";
}

std::optional<std::size_t> Tokenizer::Impl::find_unencodable(std::string_view text) const {
  if (!is_byte_level || merging->has_all_bytes()) return std::nullopt;
  const auto missing = std::find_if(
      text.begin(), text.end(), [&](char c) { return !merging->has_byte(static_cast<unsigned char>(c)); });
  if (missing == text.end()) return std::nullopt;
  return static_cast<std::size_t>(missing - text.begin());
}

std::vector<TokenId> Tokenizer::Impl::encode(std::string_view text, bool allow_special) const {
  if (const auto at = find_unencodable(text)) {
    fail(ExitCode::bad_input, fmt::format("byte {:02X} at offset {} of a text has no token in the vocabulary "
                                          "of {}; remove it from the text",
                                          static_cast<unsigned char>(text[*at]), *at, where));
  }
  std::unique_ptr<EncodeWorkspace> workspace = workspaces.take();
  std::vector<TokenId> ids;
  ids.reserve(text.size() / 3 + 4);
  std::size_t done = 0;
  while (const auto match = raw_added.find(text, done, allow_special)) {
    encode_normalized(text.substr(done, match->begin - done), allow_special, *workspace, ids);
    ids.push_back(match->id);
    done = match->begin + match->length;
  }
  encode_normalized(text.substr(done), allow_special, *workspace, ids);
  workspaces.give_back(std::move(workspace));
  return ids;
}

void Tokenizer::Impl::encode_normalized(std::string_view text, bool allow_special, EncodeWorkspace& workspace,
                                        std::vector<TokenId>& out) const {
  std::string normalized;
  if (normalize_nfc && !is_surely_nfc(text)) {
    normalized = to_nfc(text);
    text = normalized;
  }
  std::size_t done = 0;
  while (const auto match = normalized_added.find(text, done, allow_special)) {
    encode_plain(text.substr(done, match->begin - done), workspace, out);
    out.push_back(match->id);
    done = match->begin + match->length;
  }
  encode_plain(text.substr(done), workspace, out);
}

// Leaves the pieces of `text` after all of `stages` in workspace.pieces.
void Tokenizer::Impl::encode_pieces(std::string_view text, std::span<const WordSplitter> stages,
                                    EncodeWorkspace& workspace) const {
  workspace.pieces.assign(1, text);
  for (const WordSplitter& splitter : stages) {
    workspace.next_pieces.clear();
    for (const std::string_view piece : workspace.pieces) {
      splitter.split(piece, workspace.splitter, workspace.next_pieces);
    }
    workspace.pieces.swap(workspace.next_pieces);
  }
}

void Tokenizer::Impl::encode_plain(std::string_view text, EncodeWorkspace& workspace,
                                   std::vector<TokenId>& out) const {
  if (text.empty()) return;
  std::string prefixed;
  if (add_prefix_space && text.front() != ' ') {
    prefixed.reserve(text.size() + 1);
    prefixed.push_back(' ');
    prefixed += text;
    text = prefixed;
  }
  encode_pieces(text, splitters, workspace);
  for (const std::string_view word : workspace.pieces) {
    if (is_byte_level) {
      merging->encode_word(word, workspace.merging, out);
    } else {
      out.push_back(word_id(word));
    }
  }
}

TokenId Tokenizer::Impl::word_id(std::string_view word) const {
  const auto known = id_of.find(std::string(word));
  if (known != id_of.end() && !special[static_cast<std::size_t>(known->second)]) return known->second;
  if (!unknown) {
    fail(ExitCode::bad_input, fmt::format("\"{}\" is not in the vocabulary of {}, which has no unk_token",
                                          short_quote(word), where));
  }
  return *unknown;
}

std::string Tokenizer::Impl::decode(const std::vector<TokenId>& ids, bool keep_special) const {
  std::string text;
  for (const TokenId id : ids) {
    check_id(id);
    const auto index = static_cast<std::size_t>(id);
    if (special[index] && !keep_special) continue;
    if (!text.empty()) text += joiner;
    text += pieces[index];
  }
  return text;
}

}  // namespace charter
