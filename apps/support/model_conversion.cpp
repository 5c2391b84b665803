// SPDX-License-Identifier: Apache-2.0
#include "apps/support/model_conversion.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "modules/checkpoint/model_folder.hpp"
#include "modules/comm/communicator.hpp"
#include "modules/training/model_start.hpp"
#include "src/base/file.hpp"
#include "src/base/log.hpp"
#include "src/model/weight_map.hpp"
#include "src/report/format_units.hpp"
#include "src/storage/safetensors_writer.hpp"
#include "src/tensor/shape_extents.hpp"

namespace charter {
namespace {

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

void write_hdf5(const ConversionOptions& options, const ModelSource& source, const ParameterList& list,
                const WeightMap& map) {
  if (options.dtype != DataType::f32) {
    fail(ExitCode::usage,
         fmt::format("--dtype {}: models in the HDF5 format are F32", to_string(options.dtype)));
  }
  std::vector<LocalBlock> blocks;
  for (std::size_t i = 0; i < list.specs.size(); ++i) {
    LocalBlock block;
    block.group = weights_group;
    block.name = list.specs[i].name;
    block.global_shape = extents_of(list.specs[i].shape);
    block.offset.assign(block.global_shape.size(), 0);
    block.extent = block.global_shape;
    block.read = [&map, &source, id = static_cast<ParameterId>(i)](std::int64_t first,
                                                                   std::span<std::byte> out) {
      map.read(*source.tensors, id, first,
               {reinterpret_cast<float*>(out.data()), out.size() / sizeof(float)});
    };
    blocks.push_back(std::move(block));
  }
  CheckpointContents contents;
  contents.files = files_of(source);
  write_model_folder(Communicator::self("model_convert"), options.to, contents, blocks);
}

void write_hugging_face(const ConversionOptions& options, const ModelSource& source,
                        const ModelConfig& config, const ParameterList& list, const WeightMap& map) {
  const WeightMap target(config, list);
  std::vector<TensorInfo> infos;
  for (const FileTensor& tensor : target.file_tensors())
    infos.push_back({tensor.name, options.dtype, tensor.shape});
  SafetensorsWriter writer(options.to, infos);
  for (const FileTensor& tensor : target.file_tensors()) {
    target.write(
        tensor,
        [&](ParameterId id, std::int64_t first, std::span<float> out) {
          map.read(*source.tensors, id, first, out);
        },
        [&](std::span<const float> piece) { writer.append(tensor.name, piece); });
  }
  for (const auto& [name, content] : files_of(source)) write_file_atomically(options.to / name, content);
  writer.finish();
}

}  // namespace

void add_conversion_options(OptionSet& set, ConversionOptions& options) {
  set.group("Conversion");
  set.add("from", options.from, "Hugging Face folder, GGUF file, run folder or checkpoint").required();
  set.add("to", options.to, "folder to write; must not hold a model yet").required();
  set.add_choice("format", options.format,
                 {{"hugging-face", ModelFormat::hugging_face}, {"hdf5", ModelFormat::hdf5}},
                 "a folder of safetensors with config and tokenizer, or Charter's checkpoint format");
  set.add_choice("dtype", options.dtype,
                 {{"f32", DataType::f32}, {"bf16", DataType::bf16}, {"f16", DataType::f16}},
                 "element type of the safetensors");
}

ExitCode convert_model(const ConversionOptions& options) {
  const ModelSource source = open_model_or_checkpoint(options.from);
  const ModelConfig config = checked_config(source);
  const ParameterList list = list_parameters(config);
  const WeightMap map(config, list,
                      source.canonical_names ? WeightNames::canonical : WeightNames::hugging_face);
  if (!source.has_text)
    log_warning(fmt::format("{}: no tokenizer is carried over: {}", source.origin, source.no_text_reason));
  if (options.format == ModelFormat::hdf5) {
    write_hdf5(options, source, list, map);
  } else {
    write_hugging_face(options, source, config, list, map);
  }
  log_info(fmt::format("{}: {} model with {} parameters written", options.to.string(),
                       to_string(config.architecture),
                       format_count(static_cast<double>(list.num_elements()))));
  return ExitCode::done;
}

}  // namespace charter
