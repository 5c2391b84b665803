// SPDX-License-Identifier: Apache-2.0
// A data file as a stream of checked records: JSONL, a JSON array or plain text (a document, or a prompt a
// line), .gz or not. One record is in memory at a time. Lone surrogate escapes become U+FFFD (counted); a
// byte-order mark, CRLF and blank lines are accepted; NUL is kept.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "src/dataset/record.hpp"
#include "src/dataset/record_splitter.hpp"

namespace charter {

struct RecordReaderOptions {
  RecordUse use = RecordUse::supervised;
  std::int64_t skip_bad =
      0;  // so many unusable records are passed over (with a warning in the log) before one is an error
};

class RecordReader {
 public:
  // Throws missing_input, or bad_input for a format that is not text.
  RecordReader(const std::filesystem::path& path, const RecordReaderOptions& options);

  // The next record, nothing at the end. Throws bad_input naming file:line or element, what was found and
  // expected; also when the file ends without a single usable record. A cut line, invalid UTF-8, wrong JSON
  // and a wrong shape can be passed over with skip_bad; a broken array or damaged gzip data cannot.
  std::optional<Record> next();

  std::int64_t records() const { return records_; }          // returned so far
  std::int64_t bad_records() const { return bad_records_; }  // passed over so far
  std::int64_t replaced_surrogates() const { return replaced_surrogates_; }
  Fingerprint content_fingerprint() const { return splitter_.content_fingerprint(); }

 private:
  std::vector<Record> parse(RawRecord& raw);
  Record parse_plain_text(RawRecord& raw) const;

  std::string path_;
  RecordReaderOptions options_;
  RecordSplitter splitter_;
  std::deque<Record> ready_;  // of the value that was read last
  std::int64_t records_ = 0;
  std::int64_t bad_records_ = 0;
  std::int64_t replaced_surrogates_ = 0;
};

}  // namespace charter
