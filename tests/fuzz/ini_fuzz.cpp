// SPDX-License-Identifier: Apache-2.0
// A config file. What is read can be written so that it reads the same again.
#include "src/options/ini_file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

namespace {

bool is_same(const std::vector<IniEntry>& a, const std::vector<IniEntry>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i].name != b[i].name || a[i].value != b[i].value) return false;
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<IniEntry> entries;
  if (!fuzz::accepts([&] { entries = parse_ini(fuzz::text_of(data, size), "fuzz.ini"); })) return 0;
  std::string written;
  for (const IniEntry& entry : entries) written += entry.name + " = " + quote_ini_value(entry.value) + "\n";
  std::vector<IniEntry> again;
  fuzz::expect(fuzz::accepts([&] { again = parse_ini(written, "again.ini"); }), "what was written is read");
  fuzz::expect(is_same(entries, again), "what was written reads the same");
  return 0;
}
