// SPDX-License-Identifier: Apache-2.0
#include "src/text/pattern_syntax.hpp"

#include <cctype>
#include <cstddef>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// The insides of character classes.
constexpr const char* white_space =
    R"(\x09-\x0D\x20\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr const char* not_white_space =
    R"(\x00-\x08\x0E-\x1F\x21-\x{84}\x{86}-\x{9F}\x{A1}-\x{167F}\x{1681}-\x{1FFF}\x{200B}-\x{2027})"
    R"(\x{202A}-\x{202E}\x{2030}-\x{205E}\x{2060}-\x{2FFF}\x{3001}-\x{10FFFF})";
// What Unicode's Annex C calls a word character: alphabetic (the five ranges are letters by that property
// alone), mark, decimal digit, connector, joiner.
constexpr const char* word_characters =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}\x{1F130}-\x{1F149}\x{1F150}-\x{1F169})"
    R"(\x{1F170}-\x{1F189})";

// The longest of a published tokenizer has about 300.
constexpr std::size_t longest_pattern = 10'000;

void check_length(std::string_view pattern, const std::string& where) {
  if (pattern.size() <= longest_pattern) return;
  fail(ExitCode::bad_input, fmt::format("{}: a pattern of {} bytes, at most {} are accepted", where,
                                        pattern.size(), longest_pattern));
}

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}

class PatternTranslator {
 public:
  PatternTranslator(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

  std::string translate() {
    check_length(pattern_, where_);
    while (!at_end()) translate_one();
    return std::move(result_);
  }

 private:
  bool at_end() const { return position_ >= pattern_.size(); }
  bool next_is(std::string_view text) const { return pattern_.substr(position_).starts_with(text); }
  std::string_view take(std::size_t count) {
    const std::string_view taken = pattern_.substr(position_, count);
    position_ += taken.size();
    return taken;
  }

  [[noreturn]] void refuse(std::string_view what) const {
    fail(ExitCode::bad_input,
         fmt::format("{}: unsupported {} at byte {} of the pattern \"{}\"; supported are groups (?:, (?i:, "
                     "(?= and (?!, "
                     "classes, \\s \\S \\d \\D \\p{{..}} \\P{{..}}, and the quantifiers ? * + {{n,m}}",
                     where_, what, position_, pattern_));
  }

  void translate_one() {
    const char c = pattern_[position_];
    switch (c) {
      case '\\':
        return translate_escape(/*inside_class=*/false);
      case '[':
        return translate_class();
      case '(':
        return translate_group();
      case '{':
        return translate_interval();
      case '.':
        result_ += R"([^\n])";
        ++position_;
        return;
      case '^':
      case '$':
        refuse("anchor");
      case ']':
      case '}':
        result_ += '\\';
        break;
      default:
        break;
    }
    result_ += take(1);
  }

  void translate_group() {
    for (const std::string_view known : {"(?:", "(?i:", "(?=", "(?!"}) {
      if (next_is(known)) {
        result_ += take(known.size());
        return;
      }
    }
    if (next_is("(?<=") || next_is("(?<!")) refuse("look-behind");
    if (next_is("(?") || next_is("(*")) refuse("group");
    result_ += take(1);
  }

  // {n}, {n,} or {n,m}. What may follow one (+ or ?) has another meaning in each syntax.
  void translate_interval() {
    const std::size_t close = pattern_.find('}', position_);
    if (close == std::string_view::npos) refuse("open brace");
    const std::string_view inside = pattern_.substr(position_ + 1, close - position_ - 1);
    const std::size_t comma = inside.find(',');
    const std::string_view low = inside.substr(0, comma);
    const std::string_view high = comma == std::string_view::npos ? "" : inside.substr(comma + 1);
    if (low.empty() ||
        (std::string(low) + std::string(high)).find_first_not_of("0123456789") != std::string::npos) {
      refuse("interval");
    }
    result_ += take(inside.size() + 2);
    if (next_is("+") || next_is("?") || next_is("*")) refuse("suffix of an interval");
  }

  void translate_class() {
    result_ += take(1);
    if (next_is("^")) result_ += take(1);
    if (next_is("]")) refuse("empty class");
    while (!next_is("]")) {
      if (at_end()) refuse("open class");
      if (next_is("[")) refuse("class inside a class");
      if (next_is("&&")) refuse("intersection of classes");
      if (next_is("\\")) {
        translate_escape(/*inside_class=*/true);
      } else {
        result_ += take(1);
      }
    }
    result_ += take(1);
  }

  void put_set(const char* set, bool inside_class) {
    result_ += inside_class ? std::string(set) : fmt::format("[{}]", set);
    take(2);
  }

  void translate_escape(bool inside_class) {
    if (position_ + 1 >= pattern_.size()) refuse("closing backslash");
    const char c = pattern_[position_ + 1];
    switch (c) {
      case 's':
        return put_set(white_space, inside_class);
      case 'S':
        return put_set(not_white_space, inside_class);
      case 'd':
        return put_set(R"(\p{Nd})", inside_class);
      case 'D':
        return put_set(R"(\P{Nd})", inside_class);
      case 'v':
        result_ += R"(\x0B)";
        take(2);
        return;
      case 'p':
      case 'P':
        return translate_property();
      case 'r':
      case 'n':
      case 't':
      case 'f':
        break;
      default:
        if (is_letter_or_digit(c) || static_cast<unsigned char>(c) >= 0x80)
          refuse(fmt::format("escape \\{}", c));
    }
    result_ += take(2);
  }

  void translate_property() {
    const std::size_t close = pattern_.find('}', position_);
    if (position_ + 2 >= pattern_.size() || pattern_[position_ + 2] != '{' ||
        close == std::string_view::npos) {
      refuse("property");
    }
    const std::string_view name = pattern_.substr(position_ + 3, close - position_ - 3);
    for (const char c : name) {
      if (!is_letter_or_digit(c) && c != '_') refuse(fmt::format("property {}", name));
    }
    result_ += take(close + 1 - position_);
  }

  std::string_view pattern_;
  const std::string& where_;
  std::size_t position_ = 0;
  std::string result_;
};

}  // namespace

std::string translate_pattern(std::string_view pattern, const std::string& where) {
  return PatternTranslator(pattern, where).translate();
}

std::string literal_pattern(std::string_view text, const std::string& where) {
  check_length(text, where);
  std::string pattern;
  for (const char c : text) {
    if (!is_letter_or_digit(c) && static_cast<unsigned char>(c) > 0x20 &&
        static_cast<unsigned char>(c) < 0x7F) {
      pattern += '\\';
    }
    pattern += c;
  }
  return pattern;
}

std::string gpt2_word_pattern() {
  return translate_pattern(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                           "GPT-2");
}

std::string any_character_pattern() {
  return R"([\x00-\x{10FFFF}])";
}

std::string non_space_pattern() {
  return fmt::format("[{}]+", not_white_space);
}

std::string word_or_symbols_pattern() {
  return fmt::format("[{0}]+|[^{0}{1}]+", word_characters, white_space);
}

}  // namespace charter
