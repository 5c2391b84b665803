// SPDX-License-Identifier: Apache-2.0
// What can be wrong with a data file before its JSON is looked at: foreign formats, escapes that no text can
// hold. (Whether bytes are UTF-8: src/base/utf8.hpp.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace charter {

// JSON may write half a surrogate pair (\ud800 alone), which is no character. Each such escape becomes
// \ufffd, the replacement character. Returns how many were replaced.
std::int64_t replace_lone_surrogates(std::string& json_text);

// What a file that starts with `head` is, and what to do about it, when that is not text: a Git LFS pointer,
// a compressed or columnar file, UTF-16, a macOS companion file. `gzip_expected` tells whether the name ends
// in .gz.
std::optional<std::string> foreign_format(std::string_view head, bool gzip_expected);

}  // namespace charter
