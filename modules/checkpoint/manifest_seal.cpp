// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/manifest_seal.hpp"

#include <fmt/format.h>

#include "modules/checkpoint/checksum.hpp"

namespace charter {
namespace {

constexpr std::string_view before_hash = ",\n\"xxh3_128_of_all_above\": \"";
constexpr std::string_view after_hash = "\"\n}\n";
constexpr std::size_t hash_digits = 32;
constexpr std::size_t seal_size = before_hash.size() + hash_digits + after_hash.size();

}  // namespace

std::string sealed(std::string text) {
  const std::string hash = text_checksum(text);
  text += before_hash;
  text += hash;
  text += after_hash;
  return text;
}

std::string seal_problem(std::string_view text) {
  if (text.size() < seal_size) return fmt::format("only {} bytes, cut short", text.size());
  const std::string_view body = text.substr(0, text.size() - seal_size);
  const std::string_view seal = text.substr(body.size());
  if (!seal.starts_with(before_hash) || !seal.ends_with(after_hash)) {
    return "does not end in its own checksum: cut short or changed";
  }
  const std::string_view stated = seal.substr(before_hash.size(), hash_digits);
  const std::string actual = text_checksum(body);
  if (stated != actual)
    return fmt::format("its checksum is {}, it states {}: changed since it was written", actual, stated);
  return {};
}

}  // namespace charter
