// SPDX-License-Identifier: Apache-2.0
// A command line, one argument a line; after a line "\x1e" stands the text of the --config file. What is
// accepted can be written as a config that gives the same values, and is no change on resume.
#include "tests/fuzz/fuzz_target.hpp"
#include "tests/src/options/sample_options.hpp"

using namespace charter;

namespace {

constexpr std::string_view separator = "\x1e\n";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = fuzz::text_of(data, size);
  const std::size_t end = input.find(separator);
  std::string config(end == std::string_view::npos ? "" : input.substr(end + separator.size()));
  SampleSet first;
  ParseAction action = ParseAction::run;
  const bool parsed = fuzz::accepts([&] {
    action =
        first.set.parse(lines_of(input.substr(0, end)), [&](const std::filesystem::path&) { return config; });
  });
  if (!parsed || action != ParseAction::run) return 0;
  std::string written = first.set.write_config_ini();
  SampleSet second;
  const bool again = fuzz::accepts([&] {
    second.set.parse({"--config", "written.ini"}, [&](const std::filesystem::path&) { return written; });
  });
  fuzz::expect(again, "a config that was written is read");
  fuzz::expect(second.set.write_config_ini() == written, "a config that was written gives the same values");
  fuzz::expect(first.set.compare_for_resume(written, "written.ini").empty(),
               "its own config is no change on resume");
  return 0;
}
