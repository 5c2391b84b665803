// SPDX-License-Identifier: Apache-2.0
// How a model comes to its first weights: from a model that --model names, or drawn at random. Rank 0 reads,
// everybody gets.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "modules/comm/communicator.hpp"
#include "src/model/model_state.hpp"
#include "src/storage/model_source.hpp"

namespace charter {

// The text of a model's folder: what every rank needs before it can build the model. Files by name, as
// checkpoints keep them.
struct ModelFiles {
  std::map<std::string, std::string>
      files;  // config.json, tokenizer.json, tokenizer_config.json, generation_config.json

  const std::string& config_json() const { return files.at("config.json"); }
  TextFiles text() const;
};

// A model opened by rank 0; the others know its files.
struct OpenedModel {
  ModelFiles files;
  std::optional<ModelSource> source;  // on rank 0, unless the start is random
  std::string origin;
};

// Local. Throws bad_input, listing all that is missing, unexpected or mis-shaped, unless the model's tensors
// are those its config.json asks for. To be called before anything of the sizes in config.json is allocated:
// they are the file's claim. Returns the parsed configuration.
ModelConfig checked_config(const ModelSource& source);

// Local. config.json of what `path` names, and nothing else of it; with `random_start` a folder that need
// hold no more. Throws as opening the model does.
std::string config_json_of(const std::filesystem::path& path, bool random_start);

// Collective over `world`. With `random_start` only config.json and the tokenizer are read. Otherwise the
// tensors have been checked against config.json. Throws on all ranks what rank 0 met.
OpenedModel open_model_on_rank_0(const Communicator& world, const std::filesystem::path& path,
                                 bool random_start);

// Collective over `world`. Weights from the opened model (checked_config has seen it), or by draw_initial
// with `seed` when it has no source. Throws bad_input when a weight is not a finite number.
void start_weights(ExecutionQueue& queue, const Communicator& world, const OpenedModel& opened,
                   std::uint64_t seed, ModelState<float>& model);

}  // namespace charter
