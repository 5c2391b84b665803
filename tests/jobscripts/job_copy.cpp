// SPDX-License-Identifier: Apache-2.0
#include "tests/jobscripts/job_copy.hpp"

#include <regex>

#include "src/base/error.hpp"
#include "src/base/file.hpp"

namespace charter::jobscripts_test {
namespace {

// A line `name=...` gets another value.
std::string with_setting(const std::string& script, const std::string& name, const std::string& value) {
  const std::regex line("(^|\n)" + name + "=[^\n]*");
  require(std::regex_search(script, line), "the job script has a line " + name + "=");
  return std::regex_replace(script, line, "$1" + name + "=" + value);
}

}  // namespace

void write_script(const std::filesystem::path& file, const std::string& text) {
  write_file_atomically(file, text);
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
}

std::filesystem::path copy_job(const std::string& script, const std::filesystem::path& folder,
                               const JobSettingsOfUser& settings) {
  std::string text = read_file(test::source_folder() / "jobscripts" / script);
  text = with_setting(text, "model", settings.model);
  text = with_setting(text, "data", settings.data);
  text = with_setting(text, "run_dir", settings.run_dir);
  text = with_setting(text, "options", settings.options);
  std::filesystem::path copy = folder / std::filesystem::path(script).filename();
  write_script(copy, text);
  return copy;
}

}  // namespace charter::jobscripts_test
