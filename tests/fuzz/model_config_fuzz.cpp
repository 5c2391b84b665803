// SPDX-License-Identifier: Apache-2.0
// A model's config.json. Whatever is accepted has sizes that can be counted.
#include "src/model/model_config.hpp"
#include "tests/fuzz/fuzz_target.hpp"

using namespace charter;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ModelConfig config;
  const std::string text(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { config = ModelConfig::from_json(text, "config.json"); })) return 0;
  fuzz::expect(config.layers >= 1 && config.layers <= 65536, "the layers can be listed");
  fuzz::expect(config.query_heads % config.kv_heads == 0 && config.head_dim >= 1, "heads divide");
  fuzz::expect(config.forward_flops_per_token() <= 2e15, "the parameters can be counted");
  return 0;
}
