// SPDX-License-Identifier: Apache-2.0
#include "modules/training/model_start.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "modules/checkpoint/model_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "src/base/file.hpp"
#include "src/model/initialization.hpp"
#include "src/model/weight_map.hpp"

namespace charter {
namespace {

constexpr std::int64_t most_config_bytes = std::int64_t{16} << 20;

void keep_text(const TextFiles& text, std::map<std::string, std::string>& files) {
  const auto keep = [&](const char* name, const std::string& content) {
    if (!content.empty()) files[name] = content;
  };
  keep("tokenizer.json", text.tokenizer_json);
  keep("tokenizer_config.json", text.tokenizer_config_json);
  keep("generation_config.json", text.generation_config_json);
}

// Nothing can be learnt from, or said by, a model that holds a NaN.
void require_finite(std::span<const float> values, const std::string& origin, const std::string& name,
                    std::int64_t first) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  fail(ExitCode::bad_input,
       fmt::format(
           "{}: element {} of {} is {}: its weights are not finite numbers; take another checkpoint of "
           "this model",
           origin, first + (bad - values.begin()), name, *bad));
}

}  // namespace

ModelConfig checked_config(const ModelSource& source) {
  ModelConfig config = ModelConfig::from_json(source.config_json, source.origin);
  if (config.layers > std::ssize(source.tensors->tensors())) {
    fail(ExitCode::bad_input, fmt::format("{}: config.json asks for {} layers, the model holds {} tensors",
                                          source.origin, config.layers, source.tensors->tensors().size()));
  }
  const ParameterList list = list_parameters(config);
  WeightMap(config, list, source.canonical_names ? WeightNames::canonical : WeightNames::hugging_face)
      .check(*source.tensors, source.origin);
  return config;
}

std::string config_json_of(const std::filesystem::path& path, bool random_start) {
  return random_start ? read_file(path / "config.json", most_config_bytes)
                      : open_model_or_checkpoint(path).config_json;
}

TextFiles ModelFiles::text() const {
  const auto content = [&](const char* name) {
    const auto found = files.find(name);
    return found == files.end() ? std::string() : found->second;
  };
  return {content("tokenizer.json"), content("tokenizer_config.json"), content("generation_config.json")};
}

OpenedModel open_model_on_rank_0(const Communicator& world, const std::filesystem::path& path,
                                 bool random_start) {
  OpenedModel opened;
  opened.origin = path.string();
  const std::string bundle = agree_on_text(world, "opening the model", [&] {
    std::map<std::string, std::string> files;
    if (random_start) {
      files["config.json"] = config_json_of(path, random_start);
      ModelConfig::from_json(files["config.json"], (path / "config.json").string());
      keep_text(read_text_files(path), files);
    } else {
      opened.source = open_model_or_checkpoint(path);
      checked_config(*opened.source);
      files["config.json"] = opened.source->config_json;
      if (!opened.source->has_text) {
        fail(ExitCode::missing_input, fmt::format("{}: has no tokenizer that can be used: {}", path.string(),
                                                  opened.source->no_text_reason));
      }
      keep_text(opened.source->text, files);
    }
    return Json(files).dump();
  });
  opened.files.files = Json::parse(bundle).get<std::map<std::string, std::string>>();
  return opened;
}

void start_weights(ExecutionQueue& queue, const Communicator& world, const OpenedModel& opened,
                   std::uint64_t seed, ModelState<float>& model) {
  const bool from_source = world.all_reduce_value<std::int32_t>(opened.source ? 1 : 0, ReduceOp::max) != 0;
  if (!from_source) {
    fill_parameters<float>(queue, model.weights, Pieces::held,
                           [&](ParameterId id, std::int64_t first, std::span<float> out) {
                             draw_initial(model.list.spec(id), seed, first, out);
                           });
    return;
  }
  std::optional<WeightMap> map;
  if (opened.source) {
    map.emplace(model.config, model.list,
                opened.source->canonical_names ? WeightNames::canonical : WeightNames::hugging_face);
  }
  const auto read = [&](ParameterId id, std::int64_t first, std::span<float> out) {
    together(world, "reading the model", [&] {
      if (!map) return;
      map->read(*opened.source->tensors, id, first, out);
      require_finite(out, opened.origin, model.list.spec(id).name, first);
    });
    world.broadcast(out, 0);
  };
  fill_parameters<float>(queue, model.weights, Pieces::all, read);
}

}  // namespace charter
