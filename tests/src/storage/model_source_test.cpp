// SPDX-License-Identifier: Apache-2.0
#include "src/storage/model_source.hpp"

#include "src/storage/safetensors_writer.hpp"
#include "tests/src/storage/storage_test_support.hpp"

namespace charter {
namespace {

void write_weights(const std::filesystem::path& folder) {
  const float value = 2.0F;
  SafetensorsWriter writer(folder, {{"w", DataType::f32, {1}}});
  writer.append("w", {&value, 1});
  writer.finish();
}

TEST(ModelSource, OpensAHuggingFaceFolderWithoutATokenizer) {
  const TemporaryFolder folder;
  write_bytes(folder / "config.json", R"({"model_type":"llama"})");
  write_weights(folder.path());
  const ModelSource model = open_model(folder.path());
  EXPECT_EQ(model.origin, folder.path().string());
  EXPECT_EQ(model.config_json, R"({"model_type":"llama"})");
  EXPECT_FALSE(model.has_text);
  EXPECT_FALSE(model.no_text_reason.empty());
  EXPECT_EQ(read_all(*model.tensors, "w", 1), std::vector<float>{2.0F});
}

TEST(ModelSource, OpensTheSharedModelWithItsTensors) {
  const auto folder = shared_data / "stories260k";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no shared data";
  const ModelSource model = open_model(folder);
  EXPECT_NE(model.config_json.find("\"hidden_size\": 64"), std::string::npos);
  EXPECT_EQ(model.tensors->tensors().size(), 47U);
}

TEST(ModelSource, SaysWhatIsMissing) {
  const TemporaryFolder folder;
  expect_error(ExitCode::missing_input, {"no such file", "none is fetched by name"},
               [&] { open_model(folder / "absent"); });
  expect_error(ExitCode::missing_input, {"neither config.json"}, [&] { open_model(folder.path()); });
  write_bytes(folder / "model.bin", "x");
  expect_error(ExitCode::missing_input, {"must be a .gguf"}, [&] { open_model(folder / "model.bin"); });
  write_bytes(folder / "config.json", "{}");
  expect_error(ExitCode::missing_input, {"neither model.safetensors nor"},
               [&] { open_model(folder.path()); });
  write_bytes(folder / "pytorch_model.bin", "x");
  expect_error(ExitCode::missing_input, {"converted to safetensors"}, [&] { open_model(folder.path()); });
}

TEST(ModelSource, ALinkThatLeadsNowhereIsNamedWithTheSystemsReason) {
  const TemporaryFolder folder;
  write_bytes(folder / "config.json", "{}");
  std::filesystem::create_symlink("gone", folder / "model.safetensors");
  expect_error(ExitCode::missing_input, {"model.safetensors: cannot open: No such file"},
               [&] { open_model(folder.path()); });
  std::filesystem::remove(folder / "model.safetensors");
  std::filesystem::create_symlink("model.safetensors", folder / "model.safetensors");
  expect_error(ExitCode::missing_input, {"model.safetensors: cannot open: Too many levels of symbolic links"},
               [&] { open_model(folder.path()); });
}

TEST(ModelSource, APathTheSystemCannotLookAtIsMissing) {
  const std::string too_long(300, 'x');
  expect_error(ExitCode::missing_input, {"File name too long"}, [&] { open_model(too_long); });
  const TemporaryFolder folder;
  write_bytes(folder / "file", "x");
  expect_error(ExitCode::missing_input, {"no such file"}, [&] { open_model(folder / "file/inside"); });
}

TEST(ModelSource, LfsPointersAreRecognisedInEveryFile) {
  const TemporaryFolder folder;
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
  write_bytes(folder / "config.json", pointer);
  write_weights(folder.path());
  expect_error(ExitCode::bad_input, {"config.json", "Git LFS pointer"}, [&] { open_model(folder.path()); });
  write_bytes(folder / "config.json", "{}");
  write_bytes(folder / "model.safetensors", pointer);
  expect_error(ExitCode::bad_input, {"model.safetensors", "Git LFS pointer"},
               [&] { open_model(folder.path()); });
}

TEST(ModelSource, RecognisesRunFoldersAndCheckpoints) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "run/checkpoints");
  std::filesystem::create_directories(folder / "step");
  write_bytes(folder / "step/MANIFEST.json", "{}");
  EXPECT_EQ(model_form_of(folder / "run"), ModelForm::run_folder);
  EXPECT_EQ(model_form_of(folder / "step"), ModelForm::checkpoint);
  expect_error(ExitCode::internal, {"modules/checkpoint"}, [&] { open_model(folder / "run"); });
}

}  // namespace
}  // namespace charter
