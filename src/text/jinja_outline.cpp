// SPDX-License-Identifier: Apache-2.0
#include "src/text/jinja_outline.hpp"

#include <cctype>
#include <cstddef>
#include <utility>

namespace charter {
namespace {

using Kind = JinjaStep::Kind;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool is_space(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}

struct Word {
  bool is_string = false;
  std::string text;
};

// A string literal that starts at text[position]; its escapes are resolved. `position` moves behind it.
std::string take_string(std::string_view text, std::size_t& position) {
  const char quote = text[position++];
  std::string result;
  while (position < text.size() && text[position] != quote) {
    char c = text[position++];
    if (c == '\\' && position < text.size()) {
      c = text[position++];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'r') c = '\r';
    }
    result.push_back(c);
  }
  ++position;
  return result;
}

// The words of an expression or statement: strings, names, numbers, operators.
std::vector<Word> split_words(std::string_view text) {
  std::vector<Word> words;
  std::size_t position = 0;
  while (position < text.size()) {
    const char c = text[position];
    if (is_space(c)) {
      ++position;
    } else if (c == '\'' || c == '"') {
      words.push_back({true, take_string(text, position)});
    } else if (is_name_character(c)) {
      std::size_t end = position;
      while (end < text.size() && is_name_character(text[end])) ++end;
      words.push_back({false, std::string(text.substr(position, end - position))});
      position = end;
    } else {
      const std::size_t length = position + 1 < text.size() && text[position + 1] == '=' ? 2 : 1;
      words.push_back({false, std::string(text.substr(position, length))});
      position += length;
    }
  }
  return words;
}

// Joins what belongs to one value: m . x and m [ 'x' ] become m.x, m [ 0 ] becomes m[0].
std::vector<Word> join_members(const std::vector<Word>& words) {
  std::vector<Word> joined;
  const auto is = [&](std::size_t index, const char* text) {
    return index < words.size() && !words[index].is_string && words[index].text == text;
  };
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool has_owner =
        !joined.empty() && !joined.back().is_string && is_name_character(joined.back().text[0]);
    if (has_owner && is(i, ".") && i + 1 < words.size()) {
      joined.back().text += "." + words[++i].text;
    } else if (has_owner && is(i, "[") && is(i + 2, "]")) {
      const Word& member = words[i + 1];
      joined.back().text += member.is_string ? "." + member.text : "[" + member.text + "]";
      i += 2;
    } else {
      joined.push_back(words[i]);
    }
  }
  return joined;
}

std::string spelled(const std::vector<Word>& words) {
  std::string text;
  for (const Word& word : words) {
    if (!text.empty()) text.push_back(' ');
    text += word.is_string ? '"' + word.text + '"' : word.text;
  }
  return text;
}

class Outliner {
 public:
  explicit Outliner(std::string_view text) : text_(text) {
    if (text_.ends_with('\n')) text_.remove_suffix(1);
  }

  std::vector<JinjaStep> outline() {
    while (position_ < text_.size()) {
      const std::size_t open = find_tag();
      take_text(open);
      if (open < text_.size()) take_tag();
    }
    return std::move(steps_);
  }

 private:
  std::size_t find_tag() const {
    for (std::size_t at = text_.find('{', position_); at != std::string_view::npos;
         at = text_.find('{', at + 1)) {
      if (at + 1 < text_.size() && std::string_view("{%#").find(text_[at + 1]) != std::string_view::npos)
        return at;
    }
    return text_.size();
  }

  void put(Kind kind, std::string content) {
    if (kind == Kind::text && !steps_.empty() && steps_.back().kind == Kind::text) {
      steps_.back().content += content;
    } else if (kind != Kind::text || !content.empty()) {
      steps_.push_back({kind, std::move(content)});
    }
  }

  // Text up to the tag at `end`, less the white space that the tags on both sides take away.
  void take_text(std::size_t end) {
    std::string_view part = text_.substr(position_, end - position_);
    const bool at_line_start = position_ == 0 || text_[position_ - 1] == '\n';
    position_ = end;
    bool starts_line = at_line_start;
    if (strip_all_) {
      while (!part.empty() && is_space(part.front())) part.remove_prefix(1);
    } else if (strip_newline_ && part.starts_with('\n')) {
      part.remove_prefix(1);
      starts_line = true;
    }
    if (end < text_.size()) {
      if (end + 2 < text_.size() && text_[end + 2] == '-') {
        while (!part.empty() && is_space(part.back())) part.remove_suffix(1);
      } else if (text_[end + 1] != '{') {
        const std::size_t last = part.find_last_not_of(" \t");
        const bool only_blanks = last == std::string_view::npos ? starts_line : part[last] == '\n';
        if (only_blanks) part = part.substr(0, last == std::string_view::npos ? 0 : last + 1);
      }
    }
    strip_all_ = strip_newline_ = false;
    put(Kind::text, std::string(part));
  }

  // Where the tag that opened at position_ closes; quotes hide its closing mark.
  std::size_t find_close(std::string_view mark) const {
    char quote = '\0';
    for (std::size_t at = position_ + 2; at + 1 < text_.size(); ++at) {
      const char c = text_[at];
      if (quote != '\0') {
        if (c == '\\') ++at;
        if (c == quote) quote = '\0';
      } else if (text_.substr(at, 2) == mark) {
        return at;
      } else if ((c == '\'' || c == '"') && mark != "#}") {
        quote = c;
      }
    }
    return text_.size();
  }

  void take_tag() {
    const char type = text_[position_ + 1];
    const std::size_t close = find_close(type == '{' ? "}}" : type == '%' ? "%}" : "#}");
    std::string_view inside = text_.substr(position_ + 2, close - position_ - 2);
    position_ = close + 2 > text_.size() ? text_.size() : close + 2;
    if (inside.starts_with('-') || inside.starts_with('+')) inside.remove_prefix(1);
    strip_all_ = inside.ends_with('-');
    strip_newline_ = type != '{';
    if (strip_all_) inside.remove_suffix(1);
    const std::vector<Word> words = join_members(split_words(inside));
    if (type == '{') take_expression(words);
    if (type == '%') put(Kind::statement, spelled(words));
  }

  // A sum of texts and values, each a step of its own; anything else is one step nobody knows.
  void take_expression(const std::vector<Word>& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const bool expects_plus = i % 2 == 1;
      if ((!words[i].is_string && words[i].text == "+") != expects_plus || words.size() % 2 == 0) {
        return put(Kind::expression, spelled(words));
      }
    }
    for (std::size_t i = 0; i < words.size(); i += 2) {
      put(words[i].is_string ? Kind::text : Kind::expression, words[i].text);
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
  bool strip_all_ = false;      // the last tag ended in -}} or -%}
  bool strip_newline_ = false;  // the last tag was a block or comment
  std::vector<JinjaStep> steps_;
};

}  // namespace

std::vector<JinjaStep> outline_jinja(std::string_view text) {
  return Outliner(text).outline();
}

}  // namespace charter
