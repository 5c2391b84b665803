// SPDX-License-Identifier: Apache-2.0
// A job script as a user makes it: a copy with the settings between the lines changed.
#pragma once

#include <filesystem>
#include <string>

#include "tests/support/test_paths.hpp"

namespace charter::jobscripts_test {

struct JobSettingsOfUser {
  std::string model;
  std::string data;
  std::string run_dir;
  std::string options;  // a bash array: "(--max-steps 5)"
};

// Writes an executable file with the mode of a program.
void write_script(const std::filesystem::path& file, const std::string& text);

// Copies jobscripts/<script> into `folder` and changes the settings; the copy's path.
std::filesystem::path copy_job(const std::string& script, const std::filesystem::path& folder,
                               const JobSettingsOfUser& settings);

}  // namespace charter::jobscripts_test
