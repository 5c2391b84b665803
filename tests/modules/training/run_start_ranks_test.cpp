// SPDX-License-Identifier: Apache-2.0
// What a run finds out before it trains: whether its folder is one folder for all ranks, and whether a model
// is what its config.json says.
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <gmock/gmock.h>

#include "modules/comm/agreement.hpp"
#include "modules/training/model_start.hpp"
#include "modules/training/shared_folder.hpp"
#include "src/base/file.hpp"
#include "src/storage/safetensors_writer.hpp"
#include "tests/support/rank_test.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter::test {
namespace {

using testing::HasSubstr;

// The message of the Error of `code` that `call` throws.
template <class Call>
std::string message_of(ExitCode code, const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(code)) << error.what();
    return error.what();
  }
  return "no error";
}

TEST(SharedFolder, IsAcceptedAndLeftAsItWas) {
  const SharedFolder folder("shared");
  EXPECT_NO_THROW(require_shared_folder(world(), folder.path(), "token", 20));
  world().barrier();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SharedFolder, ARankThatSeesAnotherFolderIsNamedWithItsHost) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const SharedFolder folder("unshared");
  const SharedFolder other("elsewhere");
  const bool odd = world().rank() == 1;
  const std::string message = message_of(ExitCode::configuration, [&] {
    require_shared_folder(world(), odd ? other.path() : folder.path(), "token", 0.3);
  });
  EXPECT_THAT(message, HasSubstr("rank 1 of"));
  EXPECT_THAT(message, HasSubstr("not shared between the nodes"));
  EXPECT_THAT(message, HasSubstr("host "));
  world().barrier();
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SharedFolder, AnotherJobsTokenIsNotTakenForThisOnes) {
  if (world().size() == 1) GTEST_SKIP() << "needs two ranks";
  const SharedFolder folder("stale");
  const std::string message = message_of(ExitCode::configuration, [&] {
    require_shared_folder(world(), folder.path(), world().rank() == 1 ? "other" : "token", 0.3);
  });
  EXPECT_THAT(message, HasSubstr("not shared"));
}

// Tensors in memory, as a model's file would hold them.
class MemoryTensors final : public TensorSource {
 public:
  explicit MemoryTensors(const ModelConfig& config) {
    for (const ParameterSpec& spec : list_parameters(config).specs) {
      std::vector<std::int64_t> shape;
      for (int dim = 0; dim < spec.shape.rank(); ++dim) shape.push_back(spec.shape[dim]);
      infos_.push_back({spec.name, DataType::f32, shape});
      values_[spec.name].assign(static_cast<std::size_t>(spec.shape.size()), 0.5F);
      reads_[spec.name].assign(static_cast<std::size_t>(spec.shape.size()), 0);
    }
  }
  void set(const std::string& name, std::size_t element, float value) {
    values_.at(name).at(element) = value;
  }
  void number_all() {
    float next = 0;
    for (auto& [name, values] : values_) {
      for (float& value : values) value = next++;
    }
  }
  // How often each element was read, in the order of names.
  std::vector<int> reads() const {
    std::vector<int> all;
    for (const auto& [name, counts] : reads_) all.insert(all.end(), counts.begin(), counts.end());
    return all;
  }
  void drop_last() { infos_.pop_back(); }

  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  void read(const std::string& name, std::int64_t first, std::span<float> out) const override {
    std::copy_n(values_.at(name).begin() + first, out.size(), out.begin());
    for (std::size_t i = 0; i < out.size(); ++i) ++reads_.at(name).at(static_cast<std::size_t>(first) + i);
  }

 private:
  std::vector<TensorInfo> infos_;
  std::map<std::string, std::vector<float>> values_;
  mutable std::map<std::string, std::vector<int>> reads_;
};

ModelSource source_of(const std::string& config, std::shared_ptr<MemoryTensors> tensors) {
  ModelSource source;
  source.origin = "model";
  source.config_json = config;
  source.tensors = std::move(tensors);
  return source;
}

TEST(CheckedConfig, SizesThatTheTensorsDoNotHaveAreRefusedUnallocated) {
  const std::string config = testing_support::tiny_llama_config(true);
  const auto tensors = std::make_shared<MemoryTensors>(ModelConfig::from_json(config, "c"));
  EXPECT_EQ(checked_config(source_of(config, tensors)).hidden, 12);
  const auto changed = [&](const std::string& key, const std::string& value) {
    std::string text = config;
    const std::size_t at = text.find("\"" + key + "\": ") + key.size() + 4;
    text.replace(at, text.find(',', at) - at, value);
    return message_of(ExitCode::bad_input, [&] { checked_config(source_of(text, tensors)); });
  };
  EXPECT_THAT(changed("num_hidden_layers", "65536"),
              HasSubstr("config.json asks for 65536 layers, the model holds 20"));
  EXPECT_THAT(changed("vocab_size", "2147483648"),
              HasSubstr("model.embed_tokens.weight has shape [19, 12], expected [2147483648, 12]"));
  tensors->drop_last();
  EXPECT_THAT(message_of(ExitCode::bad_input, [&] { checked_config(source_of(config, tensors)); }),
              HasSubstr("missing model.norm.weight"));
}

TEST(StartWeights, AWeightThatIsNoNumberIsNamedOnAllRanks) {
  const std::string config = testing_support::tiny_llama_config(true);
  for (const float bad : {std::nanf(""), -INFINITY}) {
    MemoryPool pool(MemoryPool::Mode::run);
    ExecutionQueue queue(pool, Arithmetic::fast);
    ModelState<float> model(queue, ModelConfig::from_json(config, "c"));
    OpenedModel opened;
    opened.origin = "model";
    if (world().rank() == 0) {
      auto tensors = std::make_shared<MemoryTensors>(model.config);
      tensors->set("model.layers.1.mlp.up_proj.weight", 13, bad);
      opened.source = source_of(config, tensors);
    }
    const std::string message =
        message_of(ExitCode::bad_input, [&] { start_weights(queue, world(), opened, 1, model); });
    EXPECT_THAT(message, HasSubstr("element 13 of model.layers.1.mlp.up_proj.weight is"));
    EXPECT_THAT(message, HasSubstr(std::isnan(bad) ? "nan" : "-inf"));
  }
}

// A file system serves each byte of a model once, however many ranks start.
TEST(StartWeights, EachElementIsReadOnceByRankZeroAndReachesAll) {
  const std::string config = testing_support::tiny_llama_config(false);
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  ModelState<float> model(queue, ModelConfig::from_json(config, "c"));
  const auto tensors = std::make_shared<MemoryTensors>(model.config);
  tensors->number_all();
  OpenedModel opened;
  opened.origin = "model";
  if (world().rank() == 0) opened.source = source_of(config, tensors);
  start_weights(queue, world(), opened, 1, model);
  EXPECT_THAT(tensors->reads(), testing::Each(world().rank() == 0 ? 1 : 0));
  for (std::size_t i = 0; i < model.list.specs.size(); ++i) {
    const ParameterSpec& spec = model.list.specs[i];
    std::vector<float> expected(static_cast<std::size_t>(spec.shape.size()));
    std::vector<float> found = expected;
    tensors->read(spec.name, 0, expected);
    read_elements<float>(queue, model.weights, static_cast<ParameterId>(i), 0, std::span(found));
    EXPECT_EQ(found, expected) << spec.name;
  }
}

TEST(OpenModel, OnlyRankZeroLooksAtTheFiles) {
  const SharedFolder folder("model");
  const std::string config = testing_support::tiny_llama_config(true);
  const std::string tokenizer =
      R"({"version": "1.0", "added_tokens": [], "pre_tokenizer": {"type": "WhitespaceSplit"},
          "model": {"type": "WordLevel", "vocab": {"<unk>": 0}, "unk_token": "<unk>"}})";
  if (world().rank() == 0) {
    write_file_atomically(folder.path() / "config.json", config);
    write_file_atomically(folder.path() / "tokenizer.json", tokenizer);
    const MemoryTensors tensors(ModelConfig::from_json(config, "c"));
    SafetensorsWriter writer(folder.path(), tensors.tensors());
    for (const TensorInfo& info : tensors.tensors()) {
      std::vector<float> values(static_cast<std::size_t>(
          std::accumulate(info.shape.begin(), info.shape.end(), std::int64_t{1}, std::multiplies<>())));
      tensors.read(info.name, 0, values);
      writer.append(info.name, values);
    }
    writer.finish();
  }
  const std::filesystem::path seen = world().rank() == 0 ? folder.path() : "/nowhere";
  const OpenedModel opened = open_model_on_rank_0(world(), seen, false);
  EXPECT_EQ(opened.source.has_value(), world().rank() == 0);
  EXPECT_EQ(opened.files.config_json(), config);
  EXPECT_EQ(opened.files.text().tokenizer_json, tokenizer);
}

}  // namespace
}  // namespace charter::test
