// SPDX-License-Identifier: Apache-2.0
#include "src/storage/model_source.hpp"

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/file.hpp"
#include "src/storage/gguf_model.hpp"
#include "src/storage/safetensors.hpp"

namespace charter {
namespace {

constexpr std::int64_t most_config_bytes = std::int64_t{16} << 20;

std::shared_ptr<TensorSource> open_weights(const std::filesystem::path& folder) {
  if (path_exists(folder / "model.safetensors")) {
    return open_safetensors(folder / "model.safetensors");
  }
  const std::filesystem::path index = folder / "model.safetensors.index.json";
  if (path_exists(index)) return open_sharded_safetensors(index);
  const bool pickled =
      path_exists(folder / "pytorch_model.bin") || path_exists(folder / "pytorch_model.bin.index.json");
  fail(
      ExitCode::missing_input,
      fmt::format(
          "{}: has neither model.safetensors nor model.safetensors.index.json{}", folder.string(),
          pickled
              ? "; its pytorch_model.bin must be converted to safetensors first, because such a file can run "
                "code"
              : ""));
}

ModelSource open_hugging_face_folder(const std::filesystem::path& folder) {
  const std::filesystem::path config = folder / "config.json";
  ModelSource model;
  model.origin = folder.string();
  model.config_json = read_file(config, most_config_bytes);
  refuse_lfs_pointer(model.config_json, config.string());
  try {
    model.text = read_text_files(folder);
    model.has_text = true;
  } catch (const Error& error) {
    // A model without a tokenizer can still be trained on token ids or converted; a broken tokenizer is an
    // error.
    if (error.code() != ExitCode::missing_input) throw;
    model.no_text_reason = error.what();
  }
  model.tensors = open_weights(folder);
  return model;
}

}  // namespace

ModelForm model_form_of(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) {
    fail(ExitCode::missing_input,
         fmt::format(
             "{}: there is no such file or folder{}; models are read from files, none is fetched by name",
             path.string(), error ? " (" + error.message() + ")" : std::string()));
  }
  if (!std::filesystem::is_directory(status)) {
    if (path.extension() == ".gguf") return ModelForm::gguf;
    fail(ExitCode::missing_input,
         fmt::format("{}: a single file must be a .gguf; for safetensors give the folder that also "
                     "holds config.json",
                     path.string()));
  }
  if (path_exists(path / "MANIFEST.json")) return ModelForm::checkpoint;
  if (std::filesystem::is_directory(path / "checkpoints", error)) return ModelForm::run_folder;
  if (path_exists(path / "config.json")) return ModelForm::hugging_face;
  fail(ExitCode::missing_input,
       fmt::format("{}: is no model folder: it holds neither config.json (a Hugging Face model), "
                   "MANIFEST.json (a checkpoint) nor checkpoints/ (a run)",
                   path.string()));
}

ModelSource open_model(const std::filesystem::path& path) {
  switch (model_form_of(path)) {
    case ModelForm::gguf:
      return open_gguf_model(path);
    case ModelForm::hugging_face:
      return open_hugging_face_folder(path);
    default:
      break;
  }
  fail(ExitCode::internal,
       fmt::format("{}: is a run folder or checkpoint, which modules/checkpoint opens", path.string()));
}

}  // namespace charter
