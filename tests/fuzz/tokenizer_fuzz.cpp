// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json; what is accepted encodes and decodes any text, and gives it back where the file asks for
// no change. After a line "\x1e\n" the input may hold a text of its own.
#include <array>

#include "src/base/json.hpp"
#include "src/text/tokenizer.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

namespace {

constexpr std::string_view separator = "\x1e\n";

// Whether ByteLevel stands nowhere with add_prefix_space, which is on when it is not written.
bool adds_no_space(const Json& json) {
  if (json.is_array()) {
    for (const Json& part : json) {
      if (!adds_no_space(part)) return false;
    }
    return true;
  }
  if (!json.is_object()) return true;
  if (json.value("type", "") == "ByteLevel")
    return json.contains("add_prefix_space") && json["add_prefix_space"] == false;
  return !json.contains("pretokenizers") || adds_no_space(json["pretokenizers"]);
}

bool keeps_every_byte(std::string_view json_text) {
  const Json json = parse_json(json_text, "tokenizer");
  const bool normalizes = json.contains("normalizer") && !json["normalizer"].is_null() &&
                          json["normalizer"].value("type", "") != "Sequence";
  const bool is_bpe = json["model"].value("type", "BPE") == "BPE";
  return is_bpe && !normalizes && json.contains("pre_tokenizer") && adds_no_space(json["pre_tokenizer"]);
}

void check_text(const Tokenizer& tokenizer, std::string_view text, bool is_exact) {
  for (const bool allow_special : {false, true}) {
    std::vector<TokenId> ids;
    if (!fuzz::accepts([&] { ids = tokenizer.encode(text, allow_special); })) continue;
    for (const TokenId id : ids) {
      fuzz::expect(id >= 0 && id < tokenizer.vocabulary_size(), "every id lies in the vocabulary");
      fuzz::expect(allow_special || !tokenizer.is_special(id), "special tokens come out only when they may");
    }
    const std::string back = tokenizer.decode(ids);
    if (is_exact) fuzz::expect(back == text, "decode(encode(x)) is x");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t end = input.find(separator);
  const std::string_view json = input.substr(0, end);
  std::optional<Tokenizer> tokenizer;
  if (!fuzz::accepts([&] { tokenizer.emplace(Tokenizer::from_json(json, "tokenizer.json")); })) return 0;
  const bool is_exact = keeps_every_byte(json);
  constexpr std::array<std::string_view, 3> texts = {
      "", "The 3 quick, brown foxes\n\n  don't: \xF0\x9F\xA6\x8A", "\xFF\xFE\x80 \xC0\xAF <|im_start|>"};
  for (const std::string_view text : texts) check_text(*tokenizer, text, is_exact);
  if (end != std::string_view::npos) check_text(*tokenizer, input.substr(end + separator.size()), is_exact);
  return 0;
}
