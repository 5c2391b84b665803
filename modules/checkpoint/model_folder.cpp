// SPDX-License-Identifier: Apache-2.0
#include "modules/checkpoint/model_folder.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_catalogue.hpp"
#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/checkpoint_reader.hpp"
#include "modules/checkpoint/save_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/communicator.hpp"
#include "src/base/log.hpp"
#include "src/base/new_folder.hpp"

namespace charter {
namespace {

namespace fs = std::filesystem;

// The group "weights" of a checkpoint as float32.
class CheckpointTensors final : public TensorSource {
 public:
  explicit CheckpointTensors(CheckpointReader reader) : reader_(std::move(reader)) {
    for (const StoredTensor& tensor : reader_.tensors()) {
      if (tensor.group == weights_group) tensors_.push_back({tensor.name, tensor.type, tensor.shape});
    }
  }

  const std::vector<TensorInfo>& tensors() const override { return tensors_; }

  void read(const std::string& name, std::int64_t first, std::span<float> out) const override {
    const StoredTensor* tensor = reader_.manifest().find(weights_group, name);
    if (tensor == nullptr) {
      fail(ExitCode::missing_input, fmt::format("{}: holds no weights {}", reader_.folder().string(), name));
    }
    if (tensor->type == DataType::f32) {
      reader_.read_range(weights_group, name, first, std::as_writable_bytes(out));
      return;
    }
    std::vector<double> wide(out.size());
    reader_.read_range(weights_group, name, first, std::as_writable_bytes(std::span(wide)));
    std::transform(wide.begin(), wide.end(), out.begin(),
                   [](double value) { return static_cast<float>(value); });
  }

 private:
  CheckpointReader reader_;
  std::vector<TensorInfo> tensors_;
};

ModelSource model_of(const fs::path& path, CheckpointReader reader) {
  ModelSource model;
  model.origin = path.string();
  model.canonical_names = true;
  if (!reader.has_file("config.json")) {
    fail(ExitCode::bad_input, fmt::format("{}: carries no config.json", reader.folder().string()));
  }
  model.config_json = reader.file("config.json");
  const auto optional_file = [&](const char* name) {
    return reader.has_file(name) ? reader.file(name) : std::string();
  };
  model.has_text = reader.has_file("tokenizer.json");
  if (!model.has_text) model.no_text_reason = "it was stored without tokenizer.json";
  model.text.tokenizer_json = optional_file("tokenizer.json");
  model.text.tokenizer_config_json = optional_file("tokenizer_config.json");
  model.text.generation_config_json = optional_file("generation_config.json");
  model.tensors = std::make_shared<CheckpointTensors>(std::move(reader));
  return model;
}

// The newest checkpoint of a run that another job may own: nothing is renamed or recorded.
CheckpointReader newest_of_run(const fs::path& run_folder) {
  const CheckpointCatalogue catalogue(run_folder / checkpoints_folder);
  std::vector<std::int64_t> steps = catalogue.committed();
  std::reverse(steps.begin(), steps.end());
  std::string reasons;
  for (const std::int64_t step : steps) {
    try {
      return read_checkpoint_folder(catalogue.path_of(step));
    } catch (const DamagedCheckpoint& damage) {
      log_warning(
          fmt::format("{}: damaged, trying the one before: {}", step_folder_name(step), damage.what()));
      reasons += fmt::format("\n  {}", damage.what());
    }
  }
  fail(ExitCode::missing_input, fmt::format("{}: holds no valid checkpoint{}{}", catalogue.folder().string(),
                                            reasons.empty() ? "" : ":", reasons));
}

}  // namespace

void write_model_folder(const Communicator& comm, const fs::path& folder, const CheckpointContents& contents,
                        std::span<const LocalBlock> blocks, const CheckpointOptions& options) {
  const ScopedPhase phase(comm.log(), "writing a model", options.deadline);
  together(comm, "writing a model", [&] { check_options(options); });
  const std::int64_t bytes = folder_bytes(total_bytes(comm, blocks));
  std::optional<NewFolder> made;  // by rank 0
  const fs::path in_flight = agree_on_text(comm, "writing a model", [&] {
    made.emplace(folder);
    require_free_space(made->path(), bytes);
    return made->path().string();
  });
  save_folder(comm, in_flight, {"weights", std::nullopt}, contents, blocks, options);
  together(comm, "writing a model", [&] {
    if (made) made->commit();
  });
}

ModelSource open_model_or_checkpoint(const fs::path& path) {
  switch (model_form_of(path)) {
    case ModelForm::checkpoint:
      return model_of(path, read_checkpoint_folder(path));
    case ModelForm::run_folder:
      return model_of(path, newest_of_run(path));
    default:
      return open_model(path);
  }
}

}  // namespace charter
