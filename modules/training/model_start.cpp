// SPDX-License-Identifier: Apache-2.0
#include "modules/training/model_start.hpp"

#include <fmt/format.h>

#include "modules/checkpoint/model_folder.hpp"
#include "modules/comm/agreement.hpp"
#include "src/base/file.hpp"
#include "src/model/initialization.hpp"
#include "src/model/weight_map.hpp"

namespace charter {
namespace {

void keep_text(const TextFiles& text, std::map<std::string, std::string>& files) {
  const auto keep = [&](const char* name, const std::string& content) {
    if (!content.empty()) files[name] = content;
  };
  keep("tokenizer.json", text.tokenizer_json);
  keep("tokenizer_config.json", text.tokenizer_config_json);
  keep("generation_config.json", text.generation_config_json);
}

}  // namespace

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
      files["config.json"] = read_file(path / "config.json");
      keep_text(read_text_files(path), files);
    } else {
      opened.source = open_model_or_checkpoint(path);
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
    fill_parameters<float>(queue, model.weights,
                           [&](ParameterId id, std::int64_t first, std::span<float> out) {
                             draw_initial(model.list.spec(id), seed, first, out);
                           });
    return;
  }
  std::optional<WeightMap> map;
  together(world, "checking the model's tensors", [&] {
    if (!opened.source) return;
    map.emplace(model.config, model.list,
                opened.source->canonical_names ? WeightNames::canonical : WeightNames::hugging_face);
    map->check(*opened.source->tensors, opened.origin);
  });
  fill_parameters<float>(queue, model.weights, [&](ParameterId id, std::int64_t first, std::span<float> out) {
    together(world, "reading the model", [&] {
      if (map) map->read(*opened.source->tensors, id, first, out);
    });
    world.broadcast(out, 0);
  });
}

}  // namespace charter
