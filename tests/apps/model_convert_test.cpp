// SPDX-License-Identifier: Apache-2.0
// model_convert as a user runs it: a trained model handed over, used, trained on, and brought back bit for
// bit.
#include <cstring>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/file.hpp"
#include "src/storage/safetensors.hpp"
#include "src/storage/safetensors_writer.hpp"
#include "tests/apps/program_runner.hpp"
#include "tests/support/test_paths.hpp"

namespace charter::apps_test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// Every file of a folder by name.
std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) files[entry.path().filename()] = read_file(entry);
  return files;
}

class ModelConvert : public testing::Test {
 protected:
  void SetUp() override {
    write_tiny_model(folder_.path() / "model");
    write_ragged_data(folder_.path() / "data.jsonl", 12);
  }
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  Json json_of(const std::string& name) const { return parse_json(read_file(path(name)), name); }

  Finished convert(const std::string& from, const std::string& to,
                   const std::vector<std::string>& more = {}) const {
    std::vector<std::string> all{"--from", path(from), "--to", path(to)};
    all.insert(all.end(), more.begin(), more.end());
    return run(0, "model_convert", all);
  }
  void expect_converted(const std::string& from, const std::string& to,
                        const std::vector<std::string>& more = {}) const {
    const Finished finished = convert(from, to, more);
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
    EXPECT_FALSE(fs::exists(path(to) + ".tmp"));
  }
  void expect_trained(const std::string& model, const std::string& run_dir,
                      const std::vector<std::string>& more = {}) const {
    const Finished finished =
        run(2, "sft_train",
            with_changes({"--model", path(model), "--data", path("data.jsonl"), "--run-dir", path(run_dir),
                          "--max-length", "64", "--global-batch", "4", "--max-steps", "2", "--lr", "0.01"},
                         more));
    ASSERT_EQ(finished.exit_code, 0) << finished.output;
  }
  // What a model says, with ids and log-probabilities.
  std::string answers(const std::string& model) const {
    write_file_atomically(folder_.path() / "prompts.txt", "abc\nzz\n");
    const Finished finished =
        run(0, "text_gen",
            {"--model", path(model), "--prompts", path("prompts.txt"), "--max-tokens", "9", "--show-ids",
             "--show-logprobs", "--output", path("answers.jsonl"), "--overwrite"});
    EXPECT_EQ(finished.exit_code, 0) << finished.output;
    return read_file(path("answers.jsonl"));
  }

  TestFolder folder_{"convert"};
};

// config.json of a tiny model of each architecture, and the class that it is for Hugging Face.
struct Kind {
  const char* name;
  const char* config;
  const char* class_name;
};

class ModelConvertOf : public ModelConvert, public testing::WithParamInterface<Kind> {};

std::string name_of(const testing::TestParamInfo<Kind>& kind) {
  return kind.param.name;
}

constexpr Kind kinds[] = {
    {"llama",
     R"({"model_type": "llama", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264, "tie_word_embeddings": true,
         "max_position_embeddings": 256, "eos_token_id": 256,
         "rope_parameters": {"rope_type": "default", "rope_theta": 5000.0}})",
     "LlamaForCausalLM"},
    {"qwen2",
     R"({"model_type": "qwen2", "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 264, "tie_word_embeddings": false,
         "max_position_embeddings": 256, "eos_token_id": 256, "dtype": "float16"})",
     "Qwen2ForCausalLM"},
    {"gpt2",
     R"({"model_type": "gpt2", "n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 264, "n_positions": 256,
         "eos_token_id": 256})",
     "GPT2LMHeadModel"}};

INSTANTIATE_TEST_SUITE_P(Architectures, ModelConvertOf, testing::ValuesIn(kinds), name_of);

TEST_P(ModelConvertOf, ARunIsHandedOverUsedTrainedOnAndBroughtBackBitForBit) {
  write_file_atomically(folder_.path() / "model/config.json", GetParam().config);
  expect_trained("model", "run", {"--random-start"});
  expect_converted("run", "export");
  EXPECT_EQ(json_of("export/config.json").at("architectures"), Json::array({GetParam().class_name}));
  EXPECT_EQ(json_of("export/config.json").at("torch_dtype"), "float32");
  EXPECT_EQ(json_of("export/generation_config.json").at("eos_token_id"), 256);
  EXPECT_EQ(json_of("export/tokenizer_config.json").at("eos_token"), "<|endoftext|>");
  EXPECT_THAT(json_of("export/tokenizer_config.json").at("chat_template").get<std::string>(),
              HasSubstr("\\n\\nHuman:"));
  EXPECT_EQ(answers("export"), answers("run"));

  expect_converted("export", "hdf5", {"--format", "hdf5"});
  expect_converted("hdf5", "back");
  EXPECT_EQ(contents(path("back")), contents(path("export")));
  expect_converted("export", "bf16", {"--dtype", "bf16"});
  expect_converted("bf16", "bf16-hdf5", {"--format", "hdf5"});
  expect_converted("bf16-hdf5", "bf16-back", {"--dtype", "bf16"});
  EXPECT_EQ(contents(path("bf16-back")), contents(path("bf16")));
  EXPECT_EQ(json_of("bf16/config.json").at("torch_dtype"), "bfloat16");
  EXPECT_LT(fs::file_size(path("bf16/model.safetensors")),
            0.6 * static_cast<double>(fs::file_size(path("export/model.safetensors"))));

  expect_trained("export", "second");
  EXPECT_EQ(metrics(path("second"), "loss").size(), 2U);
  EXPECT_NE(answers("second"), answers("run"));
}

TEST_F(ModelConvert, TheChatTemplateThatWasTrainedOnGoesWithTheModel) {
  expect_trained("model", "run", {"--random-start", "--chat-template", "chatml"});
  expect_converted("run", "export");
  EXPECT_THAT(json_of("export/tokenizer_config.json").at("chat_template").get<std::string>(),
              HasSubstr("<|im_start|>assistant"));
  EXPECT_EQ(json_of("export/generation_config.json").at("eos_token_id"), Json::array({256, 258}));
  const std::string without_a_name = answers("run");
  const Finished named =
      run(0, "text_gen",
          {"--model", path("run"), "--prompts", path("prompts.txt"), "--max-tokens", "9", "--show-ids",
           "--show-logprobs", "--chat-template", "chatml", "--output", path("named.jsonl")});
  EXPECT_EQ(named.exit_code, 0) << named.output;
  EXPECT_EQ(read_file(path("named.jsonl")), without_a_name);
  EXPECT_EQ(answers("export"), without_a_name);
}

TEST_F(ModelConvert, ALargeModelIsCutIntoFilesThatTheIndexNames) {
  expect_trained("model", "run", {"--random-start"});
  expect_converted("run", "whole");
  expect_converted("run", "cut", {"--max-shard-bytes", "20k"});
  const Json index = json_of("cut/model.safetensors.index.json");
  const auto whole = open_safetensors(path("whole/model.safetensors"));
  EXPECT_EQ(index.at("weight_map").size(), whole->tensors().size());
  std::int64_t bytes = 0;
  std::int64_t files = 0;
  for (const auto& [name, content] : contents(path("cut"))) {
    if (!name.ends_with(".safetensors")) continue;
    ++files;
    const auto shard = open_safetensors(path("cut/" + name));
    std::int64_t in_shard = 0;
    for (const TensorInfo& info : shard->tensors()) {
      EXPECT_EQ(index.at("weight_map").at(info.name), name);
      std::int64_t elements = 1;
      for (const std::int64_t extent : info.shape) elements *= extent;
      in_shard += bytes_of(info.type, elements);
    }
    EXPECT_TRUE(in_shard <= 20000 || shard->tensors().size() == 1) << name;
    bytes += in_shard;
  }
  EXPECT_GT(files, 3);
  EXPECT_EQ(index.at("metadata").at("total_size"), bytes);
  expect_converted("cut", "joined");
  EXPECT_EQ(contents(path("joined")), contents(path("whole")));
}

TEST_F(ModelConvert, MistakesGetTheirExitCodeAndLeaveNothing) {
  expect_trained("model", "run", {"--random-start"});
  const auto expect = [&](const Finished& finished, int code, const std::string& text) {
    EXPECT_EQ(finished.exit_code, code) << finished.output;
    EXPECT_THAT(finished.output, HasSubstr(text));
    EXPECT_FALSE(fs::exists(path("out")));
    EXPECT_FALSE(fs::exists(path("out.tmp")));
  };
  expect(convert("run", "out", {"--format", "hdf5", "--dtype", "bf16"}), 64, "the HDF5 format are f32");
  expect(convert("run", "out", {"--format", "hdf5", "--max-shard-bytes", "1G"}), 64, "belongs to");
  expect(convert("absent", "out"), 66, "absent");
  expect(convert("run", "run/checkpoints/step-0000000099", {"--format", "hdf5"}), 64,
         "among the checkpoints of a run");
  for (const char* format : {"hugging-face", "hdf5"}) {
    fs::create_directory(path("there"));
    expect(convert("run", "there", {"--format", format}), 73, "is there already; name a new folder");
    EXPECT_TRUE(fs::is_empty(path("there")));
  }
  // A file system that is full, or a quota that is used up: 20 kB for a file, enough for all but the weights.
  const Finished full =
      run_command({"bash", "-c", "trap '' XFSZ; ulimit -f 20; exec \"$0\" \"$@\"",
                   program_folder() + "/model_convert", "--from", path("run"), "--to", path("out")});
  expect(full, 73, "out.tmp/model.safetensors");
}

TEST_F(ModelConvert, ANumberThatHalfPrecisionCannotHoldIsNamed) {
  expect_trained("model", "run", {"--random-start"});
  expect_converted("run", "large");
  const auto source = open_safetensors(path("large/model.safetensors"));
  const std::string name = "model.layers.1.mlp.up_proj.weight";
  {
    SafetensorsWriter writer(path("changed"), source->tensors());
    for (const TensorInfo& info : source->tensors()) {
      std::int64_t elements = 1;
      for (const std::int64_t extent : info.shape) elements *= extent;
      std::vector<float> values(static_cast<std::size_t>(elements));
      source->read(info.name, 0, values);
      if (info.name == name) values[7] = 65520.0F;
      writer.append(info.name, values);
    }
    writer.finish();
  }
  fs::rename(path("changed/model.safetensors"), path("large/model.safetensors"));
  const Finished refused = convert("large", "out", {"--dtype", "f16"});
  EXPECT_EQ(refused.exit_code, 65) << refused.output;
  EXPECT_THAT(refused.output, HasSubstr("element 7 of " + name + " is 65520"));
  EXPECT_FALSE(fs::exists(path("out")));
  EXPECT_FALSE(fs::exists(path("out.tmp")));
  expect_converted("large", "out", {"--dtype", "bf16"});
}

// The tensors' bytes follow the headers, which name the same tensors in the same order.
TEST_F(ModelConvert, AModelFromElsewhereComesBackBitForBit) {
  const fs::path stories = test::shared_data_folder() / "stories260k";
  if (!fs::exists(stories)) GTEST_SKIP() << "no " << stories;
  fs::copy(stories, path("stories"));
  expect_converted("stories", "hdf5", {"--format", "hdf5"});
  expect_converted("hdf5", "back");
  const auto data = [](const std::string& file) {
    std::uint64_t header = 0;
    std::memcpy(&header, file.data(), 8);
    return file.substr(8 + header);
  };
  EXPECT_EQ(data(read_file(stories / "model.safetensors")), data(read_file(path("back/model.safetensors"))));
}

}  // namespace
}  // namespace charter::apps_test
