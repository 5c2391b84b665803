// SPDX-License-Identifier: Apache-2.0
#include "src/storage/hugging_face_files.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "src/base/error.hpp"
#include "src/base/json.hpp"
#include "src/text/chat_template.hpp"

namespace charter {
namespace {

// What a tokenizer and its files say together.
struct TextIds {
  TextSettings settings;
  std::vector<TokenId> ends;  // every token that ends an answer
};

std::string class_of(const std::string& model_type, const std::string& origin) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> classes{
      {{"llama", "LlamaForCausalLM"},
       {"mistral", "MistralForCausalLM"},
       {"qwen2", "Qwen2ForCausalLM"},
       {"gpt2", "GPT2LMHeadModel"}}};
  const auto* const found =
      std::ranges::find(classes, model_type, &std::pair<std::string_view, std::string_view>::first);
  if (found == classes.end()) {
    fail(ExitCode::bad_input,
         fmt::format("{}: no class is known for \"model_type\": \"{}\"", origin, model_type));
  }
  return std::string(found->second);
}

std::string torch_name(DataType type) {
  switch (type) {
    case DataType::f32:
      return "float32";
    case DataType::bf16:
      return "bfloat16";
    case DataType::f16:
      return "float16";
    default:
      break;
  }
  fail(ExitCode::internal,
       fmt::format("safetensors are written as F32, F16 or BF16, not {}", to_string(type)));
}

Json object_of(const std::string& text, const std::string& where) {
  if (text.empty()) return Json::object();
  Json object = parse_json(text, where);
  if (!object.is_object()) fail(ExitCode::bad_input, fmt::format("{}: is no JSON object", where));
  return object;
}

// Version 5 writes "rope_parameters", which older readers pass over and then compute other positions.
void name_positions_for_older_readers(Json& config) {
  const auto found = config.find("rope_parameters");
  if (found == config.end() || !found->is_object()) return;
  Json scaling = *found;
  if (const auto theta = scaling.find("rope_theta"); theta != scaling.end()) {
    config["rope_theta"] = *theta;
    scaling.erase(theta);
  }
  if (scaling.value("rope_type", "default") != "default") config["rope_scaling"] = std::move(scaling);
}

void add_if_missing(Json& object, const char* key, const Json& value) {
  if (!object.contains(key)) object[key] = value;
}

Json one_or_several(const std::vector<TokenId>& ids) {
  if (ids.empty()) return nullptr;
  return ids.size() == 1 ? Json(ids.front()) : Json(ids);
}

Json id_or_null(const std::optional<TokenId>& id) {
  return id ? Json(*id) : Json();
}

// The library has numbers of its own for what a config leaves out, so also "none" is written.
void add_ids(Json& config, const TextIds& text) {
  add_if_missing(config, "bos_token_id", id_or_null(text.settings.bos));
  add_if_missing(config, "eos_token_id", one_or_several(text.ends));
}

// The library stops at these ids only, whatever the tokenizer or the chat template says.
Json generation_config_of(const ModelSource& source, const TextIds& text) {
  Json config = object_of(source.text.generation_config_json, source.origin + "/generation_config.json");
  add_if_missing(config, "bos_token_id", id_or_null(text.settings.bos));
  if (text.settings.pad) add_if_missing(config, "pad_token_id", *text.settings.pad);
  std::vector<TokenId> named;
  if (const auto found = config.find("eos_token_id"); found != config.end() && !found->is_null()) {
    named = found->is_array() ? found->get<std::vector<TokenId>>() : std::vector{found->get<TokenId>()};
  }
  const std::size_t before = named.size();
  for (const TokenId id : text.ends) {
    if (std::ranges::find(named, id) == named.end()) named.push_back(id);
  }
  if (named.size() > before) config["eos_token_id"] = one_or_several(named);
  return config;
}

// A class that takes tokenizer.json as it is; the one that a model's type stands for may have rules of its
// own.
Json tokenizer_config_of(const ModelSource& source, const Tokenizer& tokenizer, const TextIds& text) {
  Json config = object_of(source.text.tokenizer_config_json, source.origin + "/tokenizer_config.json");
  const char* const plain = "PreTrainedTokenizerFast";
  add_if_missing(config, "tokenizer_class", plain);
  if (config["tokenizer_class"] == plain) {
    // Before version 5 it also returns token types, which a decoder's generate() refuses.
    add_if_missing(config, "model_input_names", {"input_ids", "attention_mask"});
  }
  if (text.settings.bos) add_if_missing(config, "bos_token", tokenizer.piece(*text.settings.bos));
  if (!text.settings.eos.empty())
    add_if_missing(config, "eos_token", tokenizer.piece(text.settings.eos.front()));
  if (text.settings.pad) add_if_missing(config, "pad_token", tokenizer.piece(*text.settings.pad));
  return config;
}

TextIds ids_of(const ModelSource& source, const Tokenizer& tokenizer) {
  TextIds text;
  text.settings = text_settings_of(source.text, source.config_json, tokenizer);
  text.ends = text.settings.eos;
  if (!text.ends.empty() && ChatTemplate::knows(text.settings.chat_template)) {
    text.ends = ChatTemplate::choose("auto", text.settings, tokenizer).stop_ids();
  }
  return text;
}

std::string file_of(const Json& object) {
  return object.dump(2) + "\n";
}

}  // namespace

HuggingFaceFiles hugging_face_files(const ModelSource& source, DataType type, bool tied_embeddings) {
  HuggingFaceFiles files;
  Json config = object_of(source.config_json, source.origin + "/config.json");
  config["architectures"] = {class_of(config.value("model_type", ""), source.origin)};
  config["torch_dtype"] = torch_name(type);
  config.erase("dtype");  // version 5's name for it; it reads both
  config["tie_word_embeddings"] = tied_embeddings;
  name_positions_for_older_readers(config);
  if (source.has_text) {
    const auto keep = [&](const char* name, const std::string& content) {
      if (!content.empty()) files.content[name] = content;
    };
    keep("tokenizer.json", source.text.tokenizer_json);
    try {
      const Tokenizer tokenizer = Tokenizer::from_json(source.text.tokenizer_json, source.origin);
      const TextIds text = ids_of(source, tokenizer);
      files.content["tokenizer_config.json"] = file_of(tokenizer_config_of(source, tokenizer, text));
      files.content["generation_config.json"] = file_of(generation_config_of(source, text));
      add_ids(config, text);
    } catch (const Error& error) {
      // A tokenizer that Charter cannot use is no reason not to convert the weights beside it.
      files.text_not_read = error.what();
      keep("tokenizer_config.json", source.text.tokenizer_config_json);
      keep("generation_config.json", source.text.generation_config_json);
    }
  }
  files.content["config.json"] = file_of(config);
  return files;
}

}  // namespace charter
