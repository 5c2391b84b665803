// SPDX-License-Identifier: Apache-2.0
#include "apps/support/model_conversion.hpp"

#include <vector>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_names.hpp"
#include "modules/checkpoint/model_folder.hpp"
#include "modules/checkpoint/save_folder.hpp"
#include "modules/comm/communicator.hpp"
#include "modules/training/model_start.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"
#include "src/base/new_folder.hpp"
#include "src/model/weight_map.hpp"
#include "src/report/byte_progress.hpp"
#include "src/report/format_units.hpp"
#include "src/storage/hugging_face_files.hpp"
#include "src/tensor/shape_extents.hpp"

namespace charter {
namespace {

// An opened model and the way to read its parameters, counted for the progress bar.
class Source {
 public:
  explicit Source(const ConversionOptions& options)
      : model_(open_model_or_checkpoint(options.from)),
        config_(checked_config(model_)),
        list_(list_parameters(config_)),
        map_(config_, list_, model_.canonical_names ? WeightNames::canonical : WeightNames::hugging_face),
        progress_(list_.num_elements() * static_cast<std::int64_t>(sizeof(float)), "MiB read",
                  options.plain_interval.seconds) {}

  const ModelSource& model() const { return model_; }
  const ModelConfig& config() const { return config_; }
  const ParameterList& list() const { return list_; }

  void read(ParameterId id, std::int64_t first, std::span<float> out) {
    map_.read(*model_.tensors, id, first, out);
    bytes_ += static_cast<std::int64_t>(out.size_bytes());
    progress_.update(bytes_);
  }
  void end_progress() { progress_.finish(); }

 private:
  ModelSource model_;
  ModelConfig config_;
  ParameterList list_;
  WeightMap map_;
  ByteProgress progress_;
  std::int64_t bytes_ = 0;
};

std::map<std::string, std::string> files_of(const ModelSource& source) {
  std::map<std::string, std::string> files{{"config.json", source.config_json}};
  const auto keep = [&](const char* name, const std::string& content) {
    if (source.has_text && !content.empty()) files[name] = content;
  };
  keep("tokenizer.json", source.text.tokenizer_json);
  keep("tokenizer_config.json", source.text.tokenizer_config_json);
  keep("generation_config.json", source.text.generation_config_json);
  return files;
}

void write_hdf5(const ConversionOptions& options, Source& source) {
  std::vector<LocalBlock> blocks;
  for (std::size_t i = 0; i < source.list().specs.size(); ++i) {
    const ParameterSpec& spec = source.list().specs[i];
    LocalBlock block;
    block.group = weights_group;
    block.name = spec.name;
    block.global_shape = extents_of(spec.shape);
    block.offset.assign(block.global_shape.size(), 0);
    block.extent = block.global_shape;
    block.read = [&source, id = static_cast<ParameterId>(i)](std::int64_t first, std::span<std::byte> out) {
      source.read(id, first, {reinterpret_cast<float*>(out.data()), out.size() / sizeof(float)});
    };
    blocks.push_back(std::move(block));
  }
  CheckpointContents contents;
  contents.files = files_of(source.model());
  write_model_folder(Communicator::self("model_convert"), options.to, contents, blocks);
}

void write_hugging_face(const ConversionOptions& options, Source& source) {
  const WeightMap target(source.config(), source.list());
  const HuggingFaceFiles files =
      hugging_face_files(source.model(), options.dtype, source.config().tied_embeddings);
  if (!files.text_not_read.empty()) {
    log_warning(fmt::format("the tokenizer's files are carried over as they are: {}", files.text_not_read));
  }
  std::vector<TensorInfo> infos;
  for (const FileTensor& tensor : target.file_tensors())
    infos.push_back({tensor.name, options.dtype, tensor.shape});
  NewFolder folder(options.to);
  require_free_space(folder.path(), folder_bytes(bytes_of(options.dtype, source.list().num_elements())));
  for (const auto& [name, content] : files.content) write_file_atomically(folder.path() / name, content);
  SafetensorsWriter writer(folder.path(), infos, options.max_shard.bytes);
  for (const FileTensor& tensor : target.file_tensors()) {
    target.write(
        tensor,
        [&](ParameterId id, std::int64_t first, std::span<float> out) { source.read(id, first, out); },
        [&](std::span<const float> piece) { writer.append(tensor.name, piece); });
  }
  writer.finish();
  folder.commit();
}

// A model between a run's checkpoints would be taken for one of them.
bool lies_in_a_run(const std::filesystem::path& target) {
  const std::filesystem::path folder = std::filesystem::absolute(target).lexically_normal();
  const std::filesystem::path above =
      folder.has_filename() ? folder.parent_path() : folder.parent_path().parent_path();
  return above.filename() == checkpoints_folder && path_exists(above.parent_path() / "config.ini");
}

}  // namespace

void add_conversion_options(OptionSet& set, ConversionOptions& options) {
  set.group("Conversion");
  set.add("from", options.from, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
  set.add("to", options.to, "folder to write; must not be there yet").required();
  set.add_choice("format", options.format,
                 {{"hugging-face", ModelFormat::hugging_face}, {"hdf5", ModelFormat::hdf5}},
                 "a folder of safetensors with config and tokenizer, or Charter's checkpoint format");
  set.add_choice("dtype", options.dtype,
                 {{"f32", DataType::f32}, {"bf16", DataType::bf16}, {"f16", DataType::f16}},
                 "element type of the safetensors");
  set.add("max-shard-bytes", options.max_shard,
          "largest file of safetensors; a model above it is cut into several with an index")
      .range(1, std::int64_t{1} << 62);
  set.add("progress-interval", options.plain_interval, "time between progress lines when not on a terminal")
      .range(0, 365.0 * 86400.0);
}

void check_conversion_options(const OptionSet& set, const ConversionOptions& options) {
  if (lies_in_a_run(options.to))
    set.refuse("to", "lies among the checkpoints of a run; name a folder elsewhere");
  if (options.format != ModelFormat::hdf5) return;
  if (options.dtype != DataType::f32) set.refuse("dtype", "models in the HDF5 format are f32");
  if (set.given("max-shard-bytes")) set.refuse("max-shard-bytes", "belongs to --format hugging-face");
}

ExitCode convert_model(const ConversionOptions& options) {
  Source source(options);
  if (!source.model().has_text) {
    log_warning(fmt::format("{}: no tokenizer is carried over: {}", source.model().origin,
                            source.model().no_text_reason));
  }
  if (options.format == ModelFormat::hdf5) {
    write_hdf5(options, source);
  } else {
    write_hugging_face(options, source);
  }
  source.end_progress();
  log_info(fmt::format("{}: {} model with {} parameters written", options.to.string(),
                       to_string(source.config().architecture),
                       format_count(static_cast<double>(source.list().num_elements()))));
  return ExitCode::done;
}

}  // namespace charter
