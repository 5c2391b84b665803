// SPDX-License-Identifier: Apache-2.0
// What the fuzz targets share. A target is one function over bytes: libFuzzer calls it (make fuzz), and so
// does corpus_driver.cpp with the kept files (make test). A target ends the process when a reader does what
// it never may: throw anything but an Error with a code of the user's making, or break a property that the
// target states.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>

#include "src/base/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace charter::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

[[noreturn]] inline void report(const char* what, const char* more = "") {
  std::fprintf(stderr, "fuzz: %s: %s\n", what, more);
  std::abort();
}

inline void expect(bool condition, const char* what) {
  if (!condition) report(what);
}

// Runs `read`; whether it accepted the input. An Error that blames the input is a refusal; any other is a
// fault.
template <class Read>
bool accepts(const Read& read) {
  try {
    read();
    return true;
  } catch (const Error& error) {
    switch (error.code()) {
      case ExitCode::usage:
      case ExitCode::bad_input:
      case ExitCode::missing_input:
      case ExitCode::configuration:
        return false;
      default:
        report("an error that does not blame the input", error.what());
    }
  } catch (const std::exception& error) {
    report("an exception that is no Error", error.what());
  }
}

// A file with the input in it, in a folder of this process that goes away at the end.
class InputFile {
 public:
  explicit InputFile(const std::string& name);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::filesystem::path& write(std::string_view bytes) const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace charter::fuzz
