// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/record_reader.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/base/log.hpp"
#include "src/base/utf8.hpp"
#include "src/dataset/record_parser.hpp"
#include "src/dataset/text_checks.hpp"

namespace charter {
namespace {

bool is_plain(RecordFileKind kind) {
  return kind == RecordFileKind::plain_text || kind == RecordFileKind::plain_lines;
}

void check_length(const RawRecord& raw) {
  if (!raw.too_long) return;
  fail(ExitCode::bad_input,
       fmt::format("{}: the line has more than {} bytes", raw.where, RecordSplitter::json_limit_bytes));
}

void check_utf8(const RawRecord& raw) {
  const std::size_t valid = valid_utf8_prefix(raw.text);
  if (valid == raw.text.size()) return;
  fail(ExitCode::bad_input, fmt::format("{}: not UTF-8 at byte {} of the file (byte {:#04x})", raw.where,
                                        raw.byte_offset + static_cast<std::int64_t>(valid),
                                        static_cast<unsigned char>(raw.text[valid])));
}

// Why a line does not parse, beyond what the parser says.
std::string hint(const RawRecord& raw, RecordFileKind kind) {
  const std::size_t first = raw.text.find_first_not_of(" \t\r\n");
  if (raw.unterminated)
    return "; this is the file's last line and it has no line end: it may have been cut off";
  if (first != std::string::npos && raw.text[first] != '{') return "; expected one JSON object on each line";
  return kind == RecordFileKind::json_lines ? "; JSONL holds exactly one JSON object on each line" : "";
}

// Only --prompts has no option to pass over records: an answer would be missing.
[[noreturn]] void refuse(const Error& error, RecordUse use) {
  if (use == RecordUse::prompts) throw Error(error);
  fail(error.code(),
       fmt::format("{}; --skip-bad-lines N passes over up to N unusable records", error.what()));
}

}  // namespace

RecordReader::RecordReader(const std::filesystem::path& path, const RecordReaderOptions& options)
    : path_(path.string()),
      options_(options),
      splitter_(path, options.use == RecordUse::prompts ? PlainText::lines : PlainText::document) {}

std::optional<Record> RecordReader::next() {
  while (ready_.empty()) {
    auto raw = splitter_.next();
    if (!raw) break;
    try {
      if (is_plain(splitter_.kind())) {
        ready_.push_back(parse_plain_text(*raw));
      } else {
        std::ranges::move(parse(*raw), std::back_inserter(ready_));
      }
    } catch (const Error& error) {
      if (error.code() != ExitCode::bad_input) throw;
      if (bad_records_ >= options_.skip_bad) refuse(error, options_.use);
      ++bad_records_;
      log_warning(fmt::format("record passed over ({} of at most {}): {}", bad_records_, options_.skip_bad,
                              error.what()));
    }
  }
  if (!ready_.empty()) {
    Record record = std::move(ready_.front());
    ready_.pop_front();
    ++records_;
    return record;
  }
  if (records_ == 0) {
    fail(ExitCode::bad_input,
         fmt::format("{}: holds no usable record ({} passed over); expected JSONL, a JSON array or "
                     "a .txt file",
                     path_, bad_records_));
  }
  return std::nullopt;
}

std::vector<Record> RecordReader::parse(RawRecord& raw) {
  check_length(raw);
  check_utf8(raw);
  replaced_surrogates_ += replace_lone_surrogates(raw.text);
  Json value;
  try {
    value = parse_json(raw.text, raw.where);
  } catch (const Error& error) {
    fail(ExitCode::bad_input, fmt::format("{}{} (the record starts at byte {} of the file)", error.what(),
                                          hint(raw, splitter_.kind()), raw.byte_offset));
  }
  std::vector<Record> records = records_of(value, options_.use, raw.where);
  for (Record& record : records) record.line = raw.line;
  return records;
}

Record RecordReader::parse_plain_text(RawRecord& raw) const {
  check_length(raw);
  check_utf8(raw);
  if (options_.use == RecordUse::preference) {
    fail(ExitCode::bad_input, fmt::format("{}: is plain text; {} needs JSONL or a JSON array", raw.where,
                                          to_string(options_.use)));
  }
  Record record;
  record.where = raw.where;
  record.line = raw.line;
  if (options_.use == RecordUse::prompts) {
    if (raw.text.ends_with('\r')) raw.text.pop_back();
    record.shape = RecordShape::prompt;
    record.prompt = {{Role::user, std::move(raw.text)}};
  } else {
    record.shape = RecordShape::text;
    record.text = std::move(raw.text);
  }
  return record;
}

}  // namespace charter
