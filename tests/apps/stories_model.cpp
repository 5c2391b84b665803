// SPDX-License-Identifier: Apache-2.0
#include "tests/apps/stories_model.hpp"

#include <fmt/format.h>

#include "src/base/file.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

std::filesystem::path stories() {
  return test::shared_data_folder() / "stories260k";
}

}  // namespace

bool has_stories_model() {
  return std::filesystem::exists(stories() / "model.safetensors");
}

void write_stories_model(const std::filesystem::path& folder, const std::string& end, bool add_bos) {
  std::filesystem::create_directories(folder);
  constexpr auto replace = std::filesystem::copy_options::overwrite_existing;
  for (const char* name : {"model.safetensors", "config.json"})
    std::filesystem::copy_file(stories() / name, folder / name, replace);
  Json vocabulary{{"<unk>", 0}, {"<s>", 1}, {"</s>", 2}};
  for (int id = 3; id < 512; ++id) vocabulary[fmt::format("t{}", id)] = id;
  write_file_atomically(folder / "tokenizer.json", word_tokenizer(vocabulary, WordCut::words).dump());
  write_file_atomically(folder / "tokenizer_config.json",
                        Json{{"add_bos_token", add_bos}, {"bos_token", "<s>"}, {"eos_token", end}}.dump());
}

Json stories_reference() {
  return parse_json(read_file(stories() / "reference.json"), "reference.json");
}

std::string stories_words(std::size_t first, std::size_t count) {
  const Json ids = stories_reference().at("greedy_ids");
  std::string text;
  for (std::size_t i = first; i < first + count; ++i) text += (i > first ? " t" : "t") + ids.at(i).dump();
  return text;
}

Json word_tokenizer(const Json& vocabulary, WordCut cut) {
  const Json characters{{"type", "Split"}, {"pattern", {{"String", ""}}}, {"behavior", "Isolated"}};
  const bool fuse = cut == WordCut::characters;
  Json marks = Json::array();
  for (const char* mark : {"<s>", "</s>"})
    marks.push_back({{"id", vocabulary.at(mark)}, {"content", mark}, {"special", true}});
  return {{"version", "1.0"},
          {"added_tokens", marks},
          {"normalizer", nullptr},
          {"pre_tokenizer", fuse ? characters : Json{{"type", "WhitespaceSplit"}}},
          {"decoder", fuse ? Json{{"type", "Fuse"}} : Json()},
          {"model", {{"type", "WordLevel"}, {"vocab", vocabulary}, {"unk_token", "<unk>"}}}};
}

}  // namespace charter::apps_test
