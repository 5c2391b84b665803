// SPDX-License-Identifier: Apache-2.0
#include "src/model/weight_map.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/base/error.hpp"
#include "src/tensor/shape_extents.hpp"

namespace charter {
namespace {

const std::string gpt2_prefix = "transformer.";

// Causal masks and rotary tables that exports of old library versions store beside the weights.
bool is_known_buffer(const std::string& name) {
  return name.ends_with(".attn.bias") || name.ends_with(".attn.masked_bias") ||
         name.ends_with(".rotary_emb.inv_freq");
}

bool has(const TensorSource& source, const std::string& name) {
  const auto& tensors = source.tensors();
  return std::ranges::find(tensors, name, &TensorInfo::name) != tensors.end();
}

}  // namespace

WeightMap::WeightMap(const ModelConfig& config, const ParameterList& list, WeightNames names)
    : list_(&list), architecture_(config.architecture), locations_(list.specs.size()) {
  if (names == WeightNames::hugging_face && config.architecture == Architecture::gpt2) {
    add_gpt2(config);
  } else {
    add_one_to_one();
  }
}

void WeightMap::add(std::string name, std::vector<std::int64_t> shape, std::vector<FileTensorPart> parts) {
  for (std::size_t part = 0; part < parts.size(); ++part) {
    locations_[index_of(parts[part].parameter)] = {file_tensors_.size(), part};
  }
  file_tensors_.push_back({std::move(name), std::move(shape), std::move(parts)});
}

void WeightMap::add_one_to_one() {
  for (std::size_t i = 0; i < list_->specs.size(); ++i) {
    const ParameterSpec& spec = list_->specs[i];
    add(spec.name, extents_of(spec.shape), {{static_cast<ParameterId>(i), false, 0}});
  }
}

void WeightMap::add_gpt2(const ModelConfig& config) {
  const std::int64_t hidden = config.hidden;
  const auto plain = [&](const std::string& name, ParameterId id) {
    add(gpt2_prefix + name, extents_of(list_->spec(id).shape), {{id, false, 0}});
  };
  const auto conv1d = [&](const std::string& name, const std::vector<LinearParameters>& linears) {
    std::vector<FileTensorPart> weights;
    std::vector<FileTensorPart> biases;
    std::int64_t columns = 0;
    std::int64_t rows = 0;
    for (const LinearParameters& linear : linears) {
      const Shape& shape = list_->spec(linear.weight).shape;
      weights.push_back({linear.weight, true, columns});
      biases.push_back({*linear.bias, false, columns});
      columns += shape[0];
      rows = shape[1];
    }
    add(gpt2_prefix + name + ".weight", {rows, columns}, weights);
    add(gpt2_prefix + name + ".bias", {columns}, biases);
  };
  const auto norm = [&](const std::string& name, const NormParameters& ids) {
    plain(name + ".weight", ids.weight);
    plain(name + ".bias", *ids.bias);
  };
  plain("wte.weight", list_->token_embedding);
  add(gpt2_prefix + "wpe.weight", {config.max_positions, hidden}, {{*list_->position_embedding, false, 0}});
  for (std::size_t i = 0; i < list_->layers.size(); ++i) {
    const LayerParameters& ids = list_->layers[i];
    const std::string prefix = fmt::format("h.{}.", i);
    norm(prefix + "ln_1", ids.attention_norm);
    conv1d(prefix + "attn.c_attn", {ids.query, ids.key, ids.value});
    conv1d(prefix + "attn.c_proj", {ids.output});
    norm(prefix + "ln_2", ids.mlp_norm);
    conv1d(prefix + "mlp.c_fc", {ids.up});
    conv1d(prefix + "mlp.c_proj", {ids.down});
  }
  norm("ln_f", list_->final_norm);
  if (list_->head != list_->token_embedding) {
    add("lm_head.weight", {config.vocabulary, hidden}, {{list_->head, false, 0}});
  }
}

std::string WeightMap::name_in(const TensorSource& source, const std::string& name) const {
  if (!has(source, name) && name.starts_with(gpt2_prefix)) return name.substr(gpt2_prefix.size());
  return name;
}

void WeightMap::check(const TensorSource& source, const std::string& origin) const {
  std::vector<std::string> faults;
  // A hostile file has as many tensors as its size allows: each is looked up, never searched for.
  std::unordered_map<std::string_view, const TensorInfo*> by_name;
  for (const TensorInfo& info : source.tensors()) by_name.emplace(info.name, &info);
  std::unordered_set<std::string> expected;
  for (const FileTensor& tensor : file_tensors_) {
    const bool short_name = !by_name.contains(tensor.name) && tensor.name.starts_with(gpt2_prefix);
    const std::string name = short_name ? tensor.name.substr(gpt2_prefix.size()) : tensor.name;
    expected.insert(name);
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      faults.push_back(fmt::format("missing {}", tensor.name));
    } else if (found->second->shape != tensor.shape) {
      faults.push_back(fmt::format("{} has shape [{}], expected [{}]", name,
                                   fmt::join(found->second->shape, ", "), fmt::join(tensor.shape, ", ")));
    }
  }
  for (const TensorInfo& info : source.tensors()) {
    const bool tied_copy = info.name == "lm_head.weight" && list_->head == list_->token_embedding;
    if (!expected.contains(info.name) && !tied_copy && !is_known_buffer(info.name)) {
      faults.push_back(fmt::format("unexpected {}", info.name));
    }
  }
  if (faults.empty()) return;
  constexpr std::size_t most_shown = 20;
  const std::size_t shown = std::min(faults.size(), most_shown);
  fail(ExitCode::bad_input,
       fmt::format("{}: {} tensors do not match a {} model of this config.json:\n  {}{}", origin,
                   faults.size(), to_string(architecture_),
                   fmt::join(faults.begin(), faults.begin() + static_cast<long>(shown), "\n  "),
                   faults.size() > shown ? "\n  ..." : ""));
}

void WeightMap::read(const TensorSource& source, ParameterId id, std::int64_t first,
                     std::span<float> out) const {
  const Location location = locations_[index_of(id)];
  const FileTensor& tensor = file_tensors_[location.tensor];
  const FileTensorPart& part = tensor.parts[location.part];
  const std::string name = name_in(source, tensor.name);
  if (part.transposed) {
    read_transposed(source, name, part, tensor.shape[1], list_->spec(id).shape[1], first, out);
  } else {
    source.read(name, part.first_column + first, out);
  }
}

// Goes through the file's rows, which are the parameter's inputs, and takes from each the outputs that the
// range touches.
void WeightMap::read_transposed(const TensorSource& source, const std::string& name,
                                const FileTensorPart& part, std::int64_t file_columns, std::int64_t inputs,
                                std::int64_t first, std::span<float> out) {
  const std::int64_t last = first + static_cast<std::int64_t>(out.size());
  const std::int64_t first_row = first / inputs;
  const std::int64_t last_row = (last + inputs - 1) / inputs;
  std::vector<float> line(static_cast<std::size_t>(last_row - first_row));
  for (std::int64_t in = 0; in < inputs; ++in) {
    source.read(name, in * file_columns + part.first_column + first_row, line);
    for (std::int64_t row = first_row; row < last_row; ++row) {
      const std::int64_t element = row * inputs + in;
      if (element < first || element >= last) continue;
      out[static_cast<std::size_t>(element - first)] = line[static_cast<std::size_t>(row - first_row)];
    }
  }
}

void WeightMap::write(const FileTensor& tensor, const ParameterReader& read_parameter,
                      const PieceWriter& write_piece) const {
  if (!tensor.parts.front().transposed) {
    constexpr std::int64_t piece = 1 << 22;
    std::vector<float> values;
    for (const FileTensorPart& part : tensor.parts) {
      const std::int64_t size = list_->spec(part.parameter).shape.size();
      for (std::int64_t first = 0; first < size; first += piece) {
        values.resize(static_cast<std::size_t>(std::min(piece, size - first)));
        read_parameter(part.parameter, first, values);
        write_piece(values);
      }
    }
    return;
  }
  std::vector<float> whole(static_cast<std::size_t>(tensor.shape[0] * tensor.shape[1]));
  std::vector<float> values;
  for (const FileTensorPart& part : tensor.parts) {
    const Shape& shape = list_->spec(part.parameter).shape;
    values.resize(static_cast<std::size_t>(shape.size()));
    read_parameter(part.parameter, 0, values);
    for (std::int64_t out = 0; out < shape[0]; ++out) {
      for (std::int64_t in = 0; in < shape[1]; ++in) {
        whole[static_cast<std::size_t>(in * tensor.shape[1] + part.first_column + out)] =
            values[static_cast<std::size_t>(out * shape[1] + in)];
      }
    }
  }
  write_piece(whole);
}

}  // namespace charter
