// SPDX-License-Identifier: Apache-2.0
#include "src/storage/gguf_names.hpp"

#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

namespace charter {
namespace {

// One row: GGUF's part (after "blk.N." in a layer), Hugging Face's (after the layer's prefix), whether the
// model can do without it.
struct Row {
  std::string_view gguf;
  std::string_view hugging_face;
  bool optional = false;
  GgufChange change = GgufChange::none;
};

struct Table {
  std::span<const Row> whole;  // outside the layers
  std::span<const Row> layer;
  std::string_view layer_prefix;
};

constexpr std::array<Row, 3> llama_whole{{{"token_embd.weight", "model.embed_tokens.weight"},
                                          {"output_norm.weight", "model.norm.weight"},
                                          {"output.weight", "lm_head.weight", true}}};
constexpr std::array<Row, 13> llama_layer{{
    {"attn_norm.weight", "input_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight", false, GgufChange::query_rows},
    {"attn_q.bias", "self_attn.q_proj.bias", true, GgufChange::query_rows},
    {"attn_k.weight", "self_attn.k_proj.weight", false, GgufChange::key_rows},
    {"attn_k.bias", "self_attn.k_proj.bias", true, GgufChange::key_rows},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias", true},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"attn_output.bias", "self_attn.o_proj.bias", true},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
}};
constexpr std::array<Row, 12> qwen2_layer{{
    {"attn_norm.weight", "input_layernorm.weight"},
    {"attn_q.weight", "self_attn.q_proj.weight"},
    {"attn_q.bias", "self_attn.q_proj.bias"},
    {"attn_k.weight", "self_attn.k_proj.weight"},
    {"attn_k.bias", "self_attn.k_proj.bias"},
    {"attn_v.weight", "self_attn.v_proj.weight"},
    {"attn_v.bias", "self_attn.v_proj.bias"},
    {"attn_output.weight", "self_attn.o_proj.weight"},
    {"ffn_norm.weight", "post_attention_layernorm.weight"},
    {"ffn_gate.weight", "mlp.gate_proj.weight"},
    {"ffn_up.weight", "mlp.up_proj.weight"},
    {"ffn_down.weight", "mlp.down_proj.weight"},
}};
constexpr std::array<Row, 5> gpt2_whole{{{"token_embd.weight", "transformer.wte.weight"},
                                         {"position_embd.weight", "transformer.wpe.weight"},
                                         {"output_norm.weight", "transformer.ln_f.weight"},
                                         {"output_norm.bias", "transformer.ln_f.bias"},
                                         {"output.weight", "lm_head.weight", true}}};
constexpr std::array<Row, 12> gpt2_layer{{
    {"attn_norm.weight", "ln_1.weight"},
    {"attn_norm.bias", "ln_1.bias"},
    {"attn_qkv.weight", "attn.c_attn.weight", false, GgufChange::transposed},
    {"attn_qkv.bias", "attn.c_attn.bias"},
    {"attn_output.weight", "attn.c_proj.weight", false, GgufChange::transposed},
    {"attn_output.bias", "attn.c_proj.bias"},
    {"ffn_norm.weight", "ln_2.weight"},
    {"ffn_norm.bias", "ln_2.bias"},
    {"ffn_up.weight", "mlp.c_fc.weight", false, GgufChange::transposed},
    {"ffn_up.bias", "mlp.c_fc.bias"},
    {"ffn_down.weight", "mlp.c_proj.weight", false, GgufChange::transposed},
    {"ffn_down.bias", "mlp.c_proj.bias"},
}};

Table table_of(GgufArchitecture architecture) {
  switch (architecture) {
    case GgufArchitecture::llama:
      return {llama_whole, llama_layer, "model.layers"};
    case GgufArchitecture::qwen2:
      return {llama_whole, qwen2_layer, "model.layers"};
    case GgufArchitecture::gpt2:
      break;
  }
  return {gpt2_whole, gpt2_layer, "transformer.h"};
}

const Row* find_row(std::span<const Row> rows, std::string_view name) {
  for (const Row& row : rows) {
    if (row.gguf == name) return &row;
  }
  return nullptr;
}

}  // namespace

std::optional<GgufArchitecture> gguf_architecture_of(std::string_view name) {
  for (const auto known : {GgufArchitecture::llama, GgufArchitecture::qwen2, GgufArchitecture::gpt2}) {
    if (to_string(known) == name) return known;
  }
  return std::nullopt;
}

std::string_view to_string(GgufArchitecture architecture) {
  switch (architecture) {
    case GgufArchitecture::llama:
      return "llama";
    case GgufArchitecture::qwen2:
      return "qwen2";
    case GgufArchitecture::gpt2:
      break;
  }
  return "gpt2";
}

std::optional<GgufNameMapping> map_gguf_name(GgufArchitecture architecture, const std::string& name,
                                             std::int64_t layers) {
  const Table table = table_of(architecture);
  if (const Row* row = find_row(table.whole, name)) {
    return GgufNameMapping{std::string(row->hugging_face), row->change};
  }
  constexpr std::string_view prefix = "blk.";
  if (!name.starts_with(prefix)) return std::nullopt;
  std::int64_t layer = -1;
  const char* end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data() + prefix.size(), end, layer);
  if (error != std::errc() || after == end || *after != '.' || layer < 0 || layer >= layers) {
    return std::nullopt;
  }
  const Row* row =
      find_row(table.layer, std::string_view(after + 1, static_cast<std::size_t>(end - after - 1)));
  if (row == nullptr) return std::nullopt;
  return GgufNameMapping{fmt::format("{}.{}.{}", table.layer_prefix, layer, row->hugging_face), row->change};
}

std::vector<std::string> required_gguf_names(GgufArchitecture architecture, std::int64_t layers) {
  const Table table = table_of(architecture);
  std::vector<std::string> names;
  for (const Row& row : table.whole) {
    if (!row.optional) names.emplace_back(row.gguf);
  }
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    for (const Row& row : table.layer) {
      if (!row.optional) names.push_back(fmt::format("blk.{}.{}", layer, row.gguf));
    }
  }
  return names;
}

}  // namespace charter
