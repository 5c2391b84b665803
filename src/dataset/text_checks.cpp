// SPDX-License-Identifier: Apache-2.0
#include "src/dataset/text_checks.hpp"

#include <array>

namespace charter {
namespace {

using std::string_view_literals::operator""sv;

// The code unit of an escape \uXXXX that starts at `at`, or -1.
int escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u') return -1;
  int unit = 0;
  for (std::size_t i = at + 2; i < at + 6; ++i) {
    const char c = text[i];
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

struct Signature {
  std::string_view bytes;
  std::string_view meaning;
};

constexpr std::array signatures{
    Signature{"version https://git-lfs"sv, "is a Git LFS pointer, not the data itself; run `git lfs pull`"sv},
    Signature{"PK\x03\x04"sv, "is a zip archive; unpack it"sv},
    Signature{"\x28\xB5\x2F\xFD"sv, "is zstd-compressed; unpack it, or compress it with gzip"sv},
    Signature{"BZh"sv, "is bzip2-compressed; unpack it, or compress it with gzip"sv},
    Signature{"\xFD"
              "7zXZ"sv,
              "is xz-compressed; unpack it, or compress it with gzip"sv},
    Signature{"PAR1"sv, "is a Parquet file; convert it to JSONL"sv},
    Signature{"ARROW1"sv, "is an Arrow file; convert it to JSONL"sv},
    Signature{"\x89HDF"sv, "is an HDF5 file; text data is JSONL, JSON or .txt"sv},
    Signature{"\x00\x05\x16\x07"sv, "is a macOS companion file (._name), not the data; remove it"sv},
    Signature{"\xFF\xFE"sv, "is UTF-16 text; convert it to UTF-8"sv},
    Signature{"\xFE\xFF"sv, "is UTF-16 text; convert it to UTF-8"sv},
};

}  // namespace

std::int64_t replace_lone_surrogates(std::string& json_text) {
  std::int64_t replaced = 0;
  for (std::size_t at = json_text.find('\\'); at != std::string::npos; at = json_text.find('\\', at)) {
    const int unit = escaped_unit(json_text, at);
    if (unit < 0) {
      at += 2;  // another escape, \\ among them
      continue;
    }
    const bool leads = unit >= 0xD800 && unit <= 0xDBFF;
    const bool trails = unit >= 0xDC00 && unit <= 0xDFFF;
    const int next = leads ? escaped_unit(json_text, at + 6) : -1;
    if (leads && next >= 0xDC00 && next <= 0xDFFF) {
      at += 12;
      continue;
    }
    if (leads || trails) {
      json_text.replace(at, 6, "\\ufffd");
      ++replaced;
    }
    at += 6;
  }
  return replaced;
}

std::optional<std::string> foreign_format(std::string_view head, bool gzip_expected) {
  for (const Signature& signature : signatures) {
    if (head.starts_with(signature.bytes)) return std::string(signature.meaning);
  }
  const bool gzip = head.starts_with("\x1F\x8B"sv);
  if (gzip && !gzip_expected)
    return "is gzip-compressed but its name does not end in .gz; rename it or unpack it";
  if (!gzip && gzip_expected) return "is named .gz but does not hold gzip data";
  return std::nullopt;
}

}  // namespace charter
