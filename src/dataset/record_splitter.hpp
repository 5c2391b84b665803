// SPDX-License-Identifier: Apache-2.0
// Cuts a file into the texts of its records without parsing them: a line each (JSONL, lists of prompts), an
// element each (one JSON array), or the whole file (plain text). Holds one record in memory at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/dataset/text_stream.hpp"

namespace charter {

enum class RecordFileKind : std::uint8_t { json_lines, json_array, plain_text, plain_lines };

// What a .txt file is: one document, or a record a line.
enum class PlainText : std::uint8_t { document, lines };

struct RawRecord {
  std::string text;
  std::string where;             // file:line or file: element i (line n), elements from 0
  std::int64_t line = 1;         // of its first byte
  std::int64_t byte_offset = 0;  // of its first byte, after decompression
  bool unterminated = false;     // the file ends with this line and without a '\n'
  bool too_long = false;         // `text` holds the beginning only
};

class RecordSplitter {
 public:
  static constexpr std::int64_t json_limit_bytes = std::int64_t{64} << 20;
  static constexpr std::int64_t plain_text_limit_bytes = std::int64_t{1} << 30;

  // Opens the file; a name ending in .txt or .txt.gz is plain text, otherwise the first character decides:
  // '[' starts an array, anything else JSONL. Throws as TextStream.
  explicit RecordSplitter(const std::filesystem::path& path, PlainText plain_text = PlainText::document);

  RecordFileKind kind() const { return kind_; }
  // The next record's text, nothing at the end. Blank lines are passed over. Throws bad_input on a broken
  // array, or an element or plain text over the limit (a line over it comes back marked, so that it can be
  // skipped).
  std::optional<RawRecord> next();
  // Of the whole file, once next() has returned nothing.
  Fingerprint content_fingerprint() const { return stream_.content_fingerprint(); }

 private:
  std::optional<RawRecord> next_line();
  std::optional<RawRecord> next_element();
  std::optional<RawRecord> whole_file();
  void skip_white_space();
  void read_element(std::string& text);
  [[noreturn]] void broken_array(const std::string& what) const;

  TextStream stream_;
  RecordFileKind kind_ = RecordFileKind::json_lines;
  std::int64_t element_ = 0;
  bool done_ = false;
};

}  // namespace charter
