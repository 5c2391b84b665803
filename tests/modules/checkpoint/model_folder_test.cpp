// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/model_folder.hpp"

#include "modules/checkpoint/checkpoint_names.hpp"
#include "tests/modules/checkpoint/checkpoint_test_support.hpp"

namespace charter::test {
namespace {

namespace fs = std::filesystem;

std::vector<TestTensor> weights_only() {
  std::vector<TestTensor> state = small_state();
  std::erase_if(state, [](const TestTensor& tensor) { return tensor.group != weights_group; });
  state.push_back({weights_group, "in.double", {5, 3}, DataType::f64});
  return state;
}

class ModelFolderTest : public testing::Test {
 protected:
  void write(const fs::path& folder, const CheckpointContents& contents = small_contents(0)) {
    write_model_folder(self_, folder, contents, owned_blocks(weights_only(), 0, 1, Cut::rows, 4),
                       small_options());
  }

  TemporaryFolder folder_;
  Communicator self_ = Communicator::self("self");
};

void expect_weights(const ModelSource& model, const std::vector<TestTensor>& state, int salt) {
  EXPECT_TRUE(model.canonical_names);
  ASSERT_EQ(model.tensors->tensors().size(), state.size());
  for (const TestTensor& tensor : state) {
    std::vector<float> values(7);
    const std::int64_t size = Rectangle{{}, tensor.shape}.volume();
    for (std::int64_t first = 0; first < size; first += 7) {
      const std::span out =
          std::span(values).first(static_cast<std::size_t>(std::min<std::int64_t>(7, size - first)));
      model.tensors->read(tensor.name, first, out);
      for (std::size_t i = 0; i < out.size(); ++i) {
        ASSERT_EQ(out[i], static_cast<float>(value_at(tensor, first + static_cast<std::int64_t>(i), salt)))
            << tensor.name;
      }
    }
  }
}

TEST_F(ModelFolderTest, OpensWhatItWrote) {
  write(folder_ / "models/tiny");
  const ModelSource model = open_model_or_checkpoint(folder_ / "models/tiny");
  EXPECT_EQ(model.config_json, small_contents(0).files.at("config.json"));
  EXPECT_TRUE(model.has_text);
  EXPECT_EQ(model.text.tokenizer_json, small_contents(0).files.at("tokenizer.json"));
  EXPECT_TRUE(model.text.generation_config_json.empty());
  expect_weights(model, weights_only(), 4);
  expect_error([&] { model.tensors->read("absent", 0, {}); }, ExitCode::missing_input, {"weights absent"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "models"), fs::directory_iterator()), 1);
}

TEST_F(ModelFolderTest, ATrailingSlashMakesNoDifference) {
  write(folder_.path() / "slash/");
  EXPECT_TRUE(fs::exists(folder_ / "slash/MANIFEST.json"));
}

TEST_F(ModelFolderTest, DoesNotOverwrite) {
  write(folder_ / "m");
  expect_error([&] { write(folder_ / "m"); }, ExitCode::cannot_write, {"is there already"});
}

TEST_F(ModelFolderTest, AFailedWriteLeavesNothing) {
  std::vector<LocalBlock> blocks = owned_blocks(weights_only(), 0, 1, Cut::rows, 4);
  blocks.back().read = [](std::int64_t, std::span<std::byte>) {
    fail(ExitCode::io_error, "the source is gone");
  };
  expect_error([&] { write_model_folder(self_, folder_ / "m", small_contents(0), blocks); },
               ExitCode::io_error, {"the source is gone"});
  EXPECT_TRUE(fs::is_empty(folder_.path()));
}

TEST_F(ModelFolderTest, OpensTheNewestWholeCheckpointOfARunAndChangesNothing) {
  {
    CheckpointStore store(self_, folder_.path(), small_options());
    for (const std::int64_t step : {1, 2}) {
      ASSERT_TRUE(store
                      .save(small_contents(step),
                            owned_blocks(weights_only(), 0, 1, Cut::rows, static_cast<int>(step)))
                      .committed);
    }
  }
  expect_weights(open_model_or_checkpoint(folder_.path()), weights_only(), 2);
  expect_weights(open_model_or_checkpoint(folder_ / "checkpoints/step-0000000001"), weights_only(), 1);
  fs::remove(folder_ / "checkpoints/step-0000000002/part_0000.h5");
  expect_weights(open_model_or_checkpoint(folder_.path()), weights_only(), 1);
  EXPECT_TRUE(fs::exists(folder_ / "checkpoints/step-0000000002"));
  fs::remove(folder_ / "checkpoints/step-0000000001/MANIFEST.json");
  expect_error([&] { open_model_or_checkpoint(folder_.path()); }, ExitCode::missing_input,
               {"no valid checkpoint"});
}

TEST_F(ModelFolderTest, DamageIsFoundWhenTheBlockIsRead) {
  write(folder_ / "m");
  const fs::path part = folder_ / "m/part_0000.h5";
  const std::string bytes = read_bytes(part);
  const auto value = static_cast<float>(value_at(weights_only()[0], 9, 4));
  const std::size_t at = bytes.find(std::string_view(reinterpret_cast<const char*>(&value), sizeof(value)));
  ASSERT_NE(at, std::string::npos);
  flip_bit(part, static_cast<std::int64_t>(at), 1);
  const ModelSource model = open_model_or_checkpoint(folder_ / "m");
  std::vector<float> out(1);
  expect_error([&] { model.tensors->read(weights_only()[0].name, 9, out); }, ExitCode::bad_input,
               {"part_0000.h5", "changed on disk"});
}

TEST_F(ModelFolderTest, AFolderWithoutConfigIsRefused) {
  CheckpointContents contents = small_contents(0);
  contents.files.clear();
  write(folder_ / "m", contents);
  expect_error([&] { open_model_or_checkpoint(folder_ / "m"); }, ExitCode::bad_input, {"config.json"});
  expect_error([&] { open_model_or_checkpoint(folder_ / "absent"); }, ExitCode::missing_input, {"absent"});
}

}  // namespace
}  // namespace charter::test
