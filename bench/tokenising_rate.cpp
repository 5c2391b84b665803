// SPDX-License-Identifier: Apache-2.0
// How fast text becomes tokens on one thread, in MB of text a second: the first pass over a text, and a
// second one, when its words are known. Usage: tokenising_rate [model folder [text file]]; otherwise the tiny
// world's tokenizer and training data.
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/text/tokenizer.hpp"
#include "src/text/tokenizer_files.hpp"

namespace {

using namespace charter;

// Line by line, as records come.
double tokenise(const Tokenizer& tokenizer, const std::string& text, std::size_t& tokens) {
  const auto start = std::chrono::steady_clock::now();
  tokens = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = text.find('\n', begin);
    const std::size_t end = line_end == std::string::npos ? text.size() : line_end + 1;
    tokens += tokenizer.encode(std::string_view(text).substr(begin, end - begin)).size();
    begin = end;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int measure(const std::filesystem::path& model, const std::filesystem::path& file) {
  const Tokenizer tokenizer = Tokenizer::from_json(read_text_files(model).tokenizer_json, model.string());
  const std::string text = read_file(file);
  std::size_t tokens = 0;
  const double first = tokenise(tokenizer, text, tokens);
  const double second = tokenise(tokenizer, text, tokens);
  const double megabytes = static_cast<double>(text.size()) / 1e6;
  std::printf(
      "%s, %.2f MB, %lld tokens in the vocabulary: %.1f MB/s, the second time %.1f MB/s (%.2f bytes a "
      "token)\n",
      file.filename().c_str(), megabytes, static_cast<long long>(tokenizer.vocabulary_size()),
      megabytes / first, megabytes / second, static_cast<double>(text.size()) / static_cast<double>(tokens));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 ? argv[1] : "data/tiny_world",
                   argc > 2 ? argv[2] : "data/tiny_world/train.jsonl");
  } catch (const charter::Error& error) {
    std::fprintf(stderr, "tokenising_rate: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
