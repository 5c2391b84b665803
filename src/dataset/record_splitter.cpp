// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_splitter.hpp"

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// What a name says of the content, with or without .gz.
bool is_named(const std::filesystem::path& path, const char* extension) {
  return (path.extension() == ".gz" ? path.stem() : path).extension() == extension;
}

// A table has no shape that could be told by its columns' names alone, and its first line is no record.
void refuse_table(const std::filesystem::path& path) {
  for (const char* extension : {".csv", ".tsv"}) {
    if (!is_named(path, extension)) continue;
    fail(ExitCode::bad_input,
         fmt::format(
             "{}: tables ({}) are not read; write a JSON object for each row, with the keys of a known "
             "shape, such as {{\"prompt\", \"completion\"}} (docs/data-formats.md)",
             path.string(), extension));
  }
}

bool is_white_space(int byte) {
  return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

std::string shown(int byte) {
  if (byte < 0) return "the end of the file";
  return byte > 0x20 && byte < 0x7F ? fmt::format("'{}'", static_cast<char>(byte))
                                    : fmt::format("byte {:#04x}", byte);
}

}  // namespace

RecordSplitter::RecordSplitter(const std::filesystem::path& path, PlainText plain_text) : stream_(path) {
  refuse_table(path);
  if (is_named(path, ".txt")) {
    kind_ = plain_text == PlainText::lines ? RecordFileKind::plain_lines : RecordFileKind::plain_text;
    return;
  }
  skip_white_space();
  if (stream_.peek() != '[') return;
  kind_ = RecordFileKind::json_array;
  stream_.get();
}

std::optional<RawRecord> RecordSplitter::next() {
  if (done_) return std::nullopt;
  switch (kind_) {
    case RecordFileKind::json_lines:
    case RecordFileKind::plain_lines:
      return next_line();
    case RecordFileKind::json_array:
      return next_element();
    case RecordFileKind::plain_text:
      return whole_file();
  }
  return std::nullopt;
}

void RecordSplitter::skip_white_space() {
  while (is_white_space(stream_.peek())) stream_.get();
}

std::optional<RawRecord> RecordSplitter::next_line() {
  RawRecord record;
  for (;;) {
    record.line = stream_.line();
    record.byte_offset = stream_.offset();
    const TextStream::Line result = stream_.get_line(record.text, json_limit_bytes);
    if (result == TextStream::Line::none) {
      done_ = true;
      return std::nullopt;
    }
    if (record.text.find_first_not_of(" \t\r") == std::string::npos) continue;
    record.where = fmt::format("{}:{}", stream_.path().string(), record.line);
    record.unterminated = result == TextStream::Line::unterminated;
    record.too_long = result == TextStream::Line::too_long;
    return record;
  }
}

std::optional<RawRecord> RecordSplitter::next_element() {
  skip_white_space();
  if (element_ == 0) {
    done_ = stream_.peek() == ']';
    if (done_) stream_.get();
  } else {
    const int separator = stream_.get();
    if (separator != ',' && separator != ']') {
      broken_array(fmt::format("expected ',' or ']', found {}", shown(separator)));
    }
    done_ = separator == ']';
  }
  skip_white_space();
  if (done_) {
    if (stream_.peek() >= 0)
      broken_array(fmt::format("expected nothing more, found {}", shown(stream_.peek())));
    return std::nullopt;
  }
  RawRecord record;
  record.byte_offset = stream_.offset();
  record.line = stream_.line();
  record.where = fmt::format("{}: element {} (line {})", stream_.path().string(), element_, record.line);
  read_element(record.text);
  ++element_;
  return record;
}

// Brackets are only counted here, to find the end; whether they match is the parser's business.
void RecordSplitter::read_element(std::string& text) {
  std::int64_t depth = 0;
  bool in_string = false;
  for (int byte = stream_.peek(); byte >= 0; byte = stream_.peek()) {
    const bool ends_scalar = byte == ',' || byte == ']' || byte == '}' || is_white_space(byte);
    if (depth == 0 && !in_string && ends_scalar) break;
    if (static_cast<std::int64_t>(text.size()) >= json_limit_bytes) {
      broken_array(fmt::format("an element has more than {} bytes", json_limit_bytes));
    }
    text.push_back(static_cast<char>(stream_.get()));
    if (in_string) {
      if (byte == '\\' && stream_.peek() >= 0) text.push_back(static_cast<char>(stream_.get()));
      in_string = byte != '"';
    } else if (byte == '"') {
      in_string = true;
    } else if (byte == '{' || byte == '[') {
      ++depth;
    } else if (byte == '}' || byte == ']') {
      --depth;
    }
    if (depth == 0 && !in_string && (byte == '}' || byte == ']' || byte == '"')) return;
  }
  if (depth > 0 || in_string) broken_array("the file ends inside an element; it is cut off");
  if (text.empty()) broken_array(fmt::format("expected an element, found {}", shown(stream_.peek())));
}

std::optional<RawRecord> RecordSplitter::whole_file() {
  done_ = true;
  RawRecord record;
  record.where = stream_.path().string();
  bool blank = true;
  for (int byte = stream_.get(); byte >= 0; byte = stream_.get()) {
    if (static_cast<std::int64_t>(record.text.size()) >= plain_text_limit_bytes) {
      fail(ExitCode::bad_input,
           fmt::format("{}: has more than {} bytes, too much for one document; cut it into several "
                       "files or write it as JSONL",
                       record.where, plain_text_limit_bytes));
    }
    if (byte == '\r' && stream_.peek() == '\n') continue;
    blank = blank && is_white_space(byte);
    record.text.push_back(static_cast<char>(byte));
  }
  if (blank) return std::nullopt;
  return record;
}

void RecordSplitter::broken_array(const std::string& what) const {
  fail(ExitCode::bad_input,
       fmt::format("{}:{}: broken JSON array at byte {}, after {} elements: {}", stream_.path().string(),
                   stream_.line(), stream_.offset(), element_, what));
}

}  // namespace charter
