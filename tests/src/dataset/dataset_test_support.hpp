// SPDX-License-Identifier: Apache-2.0
// What the tests of src/dataset share: a folder of their own, files written in one call, and errors caught as
// values.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/text/chat_template.hpp"
#include "tests/support/test_paths.hpp"

namespace charter {

// A new folder, removed with all it holds.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "charter-dataset-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path write(const std::string& name, const std::string& content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct Caught {
  ExitCode code = ExitCode::done;
  std::string message;
};

// The Error that `call` throws; code done and no message when it throws none.
template <class Call>
Caught caught(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

inline Tokenizer tiny_world_tokenizer() {
  const std::filesystem::path path = test::source_folder() / "data/tiny_world/tokenizer.json";
  return Tokenizer::from_json(read_file(path), path.string());
}

// ChatML without BOS; documents end in <|endoftext|>.
inline ChatTemplate tiny_world_template(const Tokenizer& tokenizer) {
  TextSettings settings;
  settings.eos = {*tokenizer.find("<|endoftext|>")};
  return ChatTemplate::choose("chatml", settings, tokenizer);
}

}  // namespace charter
