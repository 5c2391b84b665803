// SPDX-License-Identifier: Apache-2.0
// main() of a fuzz target without libFuzzer: corpus_driver FOLDER ... calls the target with every file below
// the folders, in order of their names, and with each file cut in half. Fails when there is no file, when one
// takes longer than five seconds, and, as every target does, by ending the process.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "src/base/file.hpp"
#include "tests/fuzz/fuzz_target.hpp"

namespace {

constexpr auto most_time = std::chrono::seconds(5);

bool is_quick(const std::filesystem::path& file, const std::string& bytes) {
  const auto begin = std::chrono::steady_clock::now();
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  const bool quick = std::chrono::steady_clock::now() - begin < most_time;
  if (!quick) std::fprintf(stderr, "fuzz: %s takes too long\n", file.c_str());
  return quick;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  int slow = 0;
  for (const std::filesystem::path& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);  // the last name printed is the one that ended the process
    const std::string bytes = charter::read_file(file);
    slow += is_quick(file, bytes) && is_quick(file, bytes.substr(0, bytes.size() / 2)) ? 0 : 1;
  }
  std::printf("%zu files\n", files.size());
  return files.empty() || slow > 0 ? 1 : 0;
}
