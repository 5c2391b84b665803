// SPDX-License-Identifier: Apache-2.0
#include "src/text/nfc.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "src/base/utf8.hpp"
#include "src/text/nfc_tables.hpp"

namespace charter {
namespace {

// Hangul syllables, computed (Unicode Standard, section 3.12): leading consonant, vowel, optional trailing
// consonant.
constexpr std::uint32_t syllable_base = 0xAC00, leading_base = 0x1100, vowel_base = 0x1161,
                        trailing_base = 0x11A7;
constexpr std::uint32_t leading_count = 19, vowel_count = 21, trailing_count = 28;
constexpr std::uint32_t syllable_count = leading_count * vowel_count * trailing_count;

struct Parts {
  std::uint32_t first = 0;
  std::uint32_t second = 0;  // 0: one character only
};

struct Tables {
  std::unordered_map<std::uint32_t, Parts> parts_of;
  std::unordered_map<std::uint64_t, std::uint32_t> whole_of;
  std::unordered_map<std::uint32_t, std::uint8_t> class_of;
};

std::uint64_t pair_key(std::uint32_t first, std::uint32_t second) {
  return (std::uint64_t{first} << 32) | second;
}

Tables make_tables() {
  Tables tables;
  for (const CanonicalPair& pair : composable_pairs()) {
    tables.parts_of[pair.whole] = {pair.first, pair.second};
    tables.whole_of[pair_key(pair.first, pair.second)] = pair.whole;
  }
  for (const CanonicalPair& pair : decomposed_only_pairs())
    tables.parts_of[pair.whole] = {pair.first, pair.second};
  for (const CanonicalSingle& single : canonical_singles()) tables.parts_of[single.whole] = {single.other, 0};
  for (const CombiningRange& range : combining_ranges()) {
    for (std::uint32_t code = range.first; code <= range.last; ++code)
      tables.class_of[code] = range.combining_class;
  }
  return tables;
}

const Tables& tables() {
  static const Tables made = make_tables();
  return made;
}

struct Element {
  std::uint32_t code = 0;
  std::uint8_t combining_class = 0;
};

void decompose(std::uint32_t code, std::vector<Element>& out) {
  if (code - syllable_base < syllable_count) {
    const std::uint32_t index = code - syllable_base;
    out.push_back({leading_base + index / (vowel_count * trailing_count), 0});
    out.push_back({vowel_base + index % (vowel_count * trailing_count) / trailing_count, 0});
    if (index % trailing_count != 0) out.push_back({trailing_base + index % trailing_count, 0});
    return;
  }
  if (const auto parts = tables().parts_of.find(code); parts != tables().parts_of.end()) {
    decompose(parts->second.first, out);
    if (parts->second.second != 0) decompose(parts->second.second, out);
    return;
  }
  const auto known = tables().class_of.find(code);
  out.push_back({code, known == tables().class_of.end() ? std::uint8_t{0} : known->second});
}

// The composite of two characters, or 0.
std::uint32_t compose(std::uint32_t first, std::uint32_t second) {
  if (first - leading_base < leading_count && second - vowel_base < vowel_count) {
    return syllable_base + ((first - leading_base) * vowel_count + (second - vowel_base)) * trailing_count;
  }
  const std::uint32_t syllable = first - syllable_base;
  if (syllable < syllable_count && syllable % trailing_count == 0 && second > trailing_base &&
      second < trailing_base + trailing_count) {
    return first + (second - trailing_base);
  }
  const auto whole = tables().whole_of.find(pair_key(first, second));
  return whole == tables().whole_of.end() ? 0 : whole->second;
}

// Marks between two starters go into the order of their classes.
void reorder(std::vector<Element>& text) {
  const auto is_starter = [](const Element& element) { return element.combining_class == 0; };
  for (auto begin = text.begin(); begin != text.end();) {
    begin = std::find_if_not(begin, text.end(), is_starter);
    const auto end = std::find_if(begin, text.end(), is_starter);
    std::stable_sort(
        begin, end, [](const Element& a, const Element& b) { return a.combining_class < b.combining_class; });
    begin = end;
  }
}

// Each character joins the last starter unless one of the same or a higher class stands between them (blocks
// it).
std::vector<Element> compose_all(const std::vector<Element>& text) {
  std::vector<Element> result;
  std::ptrdiff_t starter = -1;
  for (const Element& element : text) {
    if (starter >= 0) {
      const bool adjacent = starter + 1 == std::ssize(result);
      const bool blocked = !adjacent && result.back().combining_class >= element.combining_class;
      Element& base = result[static_cast<std::size_t>(starter)];
      const std::uint32_t whole = blocked ? 0 : compose(base.code, element.code);
      if (whole != 0) {
        base.code = whole;
        continue;
      }
    }
    if (element.combining_class == 0) starter = std::ssize(result);
    result.push_back(element);
  }
  return result;
}

void append_nfc_of_valid(std::string_view text, std::string& out) {
  std::vector<Element> elements;
  elements.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character character = first_utf8_character(text);
    decompose(character.code, elements);
    text.remove_prefix(static_cast<std::size_t>(character.length));
  }
  reorder(elements);
  for (const Element& element : compose_all(elements)) append_utf8(out, element.code);
}

}  // namespace

std::string to_nfc(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const std::size_t valid = valid_utf8_prefix(text);
    append_nfc_of_valid(text.substr(0, valid), result);
    text.remove_prefix(valid);
    const std::size_t invalid = invalid_utf8_prefix(text);
    result += text.substr(0, invalid);
    text.remove_prefix(invalid);
  }
  return result;
}

bool is_surely_nfc(std::string_view text) {
  // Below U+0300 (lead bytes up to 0xCB) nothing combines and every character is its own composition.
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0xCC; });
}

}  // namespace charter
