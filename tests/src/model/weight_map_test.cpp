// SPDX-License-Identifier: Apache-2.0
#include "src/model/weight_map.hpp"

#include <chrono>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/base/error.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/support/tiny_models.hpp"

namespace charter {
namespace {

using testing::HasSubstr;

// Tensors in memory, as a file would hold them.
class MemorySource final : public TensorSource {
 public:
  void add(const std::string& name, const std::vector<std::int64_t>& shape, std::vector<float> values) {
    infos_.push_back({name, DataType::f32, shape});
    values_[name] = std::move(values);
  }
  void rename(const std::string& from, const std::string& to) {
    for (TensorInfo& info : infos_) {
      if (info.name == from) info.name = to;
    }
    values_[to] = values_.at(from);
  }
  const std::vector<TensorInfo>& tensors() const override { return infos_; }
  void read(const std::string& name, std::int64_t first, std::span<float> out) const override {
    const auto& values = values_.at(name);
    std::copy_n(values.begin() + first, out.size(), out.begin());
  }

 private:
  std::vector<TensorInfo> infos_;
  std::map<std::string, std::vector<float>> values_;
};

struct Case {
  ModelConfig config;
  ParameterList list = list_parameters(config);
  WeightMap map{config, list};

  float canonical(ParameterId id, std::int64_t element) const {
    return static_cast<float>(index_of(id)) * 1000.0F + static_cast<float>(element);
  }
  MemorySource written() const {
    MemorySource source;
    for (const FileTensor& tensor : map.file_tensors()) {
      std::vector<float> values;
      map.write(
          tensor,
          [&](ParameterId id, std::int64_t first, std::span<float> out) {
            for (std::size_t i = 0; i < out.size(); ++i)
              out[i] = canonical(id, first + static_cast<std::int64_t>(i));
          },
          [&](std::span<const float> piece) { values.insert(values.end(), piece.begin(), piece.end()); });
      source.add(tensor.name, tensor.shape, values);
    }
    return source;
  }
};

class WeightMapOf : public testing::TestWithParam<std::string> {
 protected:
  Case case_{ModelConfig::from_json(GetParam(), "c")};
};

TEST_P(WeightMapOf, WhatIsWrittenIsReadBackInAnyPiece) {
  const MemorySource source = case_.written();
  case_.map.check(source, "memory");
  for (std::size_t i = 0; i < case_.list.specs.size(); ++i) {
    const auto id = static_cast<ParameterId>(i);
    const std::int64_t size = case_.list.spec(id).shape.size();
    for (std::int64_t first = 0; first < size; first += 7) {
      std::vector<float> out(static_cast<std::size_t>(std::min<std::int64_t>(7, size - first)));
      case_.map.read(source, id, first, out);
      for (std::size_t k = 0; k < out.size(); ++k) {
        ASSERT_EQ(out[k], case_.canonical(id, first + static_cast<std::int64_t>(k)))
            << case_.list.spec(id).name;
      }
    }
  }
}

std::string architecture_name(const testing::TestParamInfo<std::string>& test) {
  const std::vector<std::string> names{"Llama", "Qwen2", "Gpt2"};
  return names[test.index];
}

INSTANTIATE_TEST_SUITE_P(Architectures, WeightMapOf,
                         testing::Values(testing_support::tiny_llama_config(true),
                                         testing_support::tiny_qwen2_config(),
                                         testing_support::tiny_gpt2_config()),
                         architecture_name);

TEST(WeightMap, Gpt2StoresQueryKeyAndValueSideBySideAndTransposed) {
  const Case gpt2{ModelConfig::from_json(testing_support::tiny_gpt2_config(), "c")};
  const MemorySource source = gpt2.written();
  std::vector<float> row(24);
  source.read("transformer.h.0.attn.c_attn.weight", 24 * 2, row);
  // Row 2 of the file is input 2: outputs of q, then k, then v.
  EXPECT_EQ(row[3], gpt2.canonical(gpt2.list.layers[0].query.weight, 3 * 8 + 2));
  EXPECT_EQ(row[8 + 3], gpt2.canonical(gpt2.list.layers[0].key.weight, 3 * 8 + 2));
  EXPECT_EQ(row[16 + 7], gpt2.canonical(gpt2.list.layers[0].value.weight, 7 * 8 + 2));
}

TEST(WeightMap, ListsEverythingThatDoesNotFit) {
  const Case llama{ModelConfig::from_json(testing_support::tiny_llama_config(true), "c")};
  MemorySource source = llama.written();
  source.rename("model.norm.weight", "model.extra.weight");
  source.add("model.layers.9.mlp.up_proj.weight", {2, 2}, {1, 2, 3, 4});
  try {
    llama.map.check(source, "m");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::bad_input);
    EXPECT_THAT(error.what(), HasSubstr("missing model.norm.weight"));
    EXPECT_THAT(error.what(), HasSubstr("unexpected model.extra.weight"));
    EXPECT_THAT(error.what(), HasSubstr("unexpected model.layers.9"));
  }
}

TEST(WeightMap, ManyTensorsAndManyLayersAreComparedQuickly) {
  std::string config = testing_support::tiny_llama_config(true);
  config.replace(config.find("\"num_hidden_layers\": 2") + 21, 1, "20000");
  const Case many{ModelConfig::from_json(config, "c")};
  MemorySource source;
  for (int i = 0; i < 200'000; ++i) source.add("tensor." + std::to_string(i), {0}, {});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(many.map.check(source, "m"), Error);
  // Every name against every name would take hours.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60 * test::time_scale()));
}

TEST(WeightMap, AcceptsACopyOfATiedHeadAndOldBuffers) {
  const Case llama{ModelConfig::from_json(testing_support::tiny_llama_config(true), "c")};
  MemorySource source = llama.written();
  source.add("lm_head.weight", {19, 12}, std::vector<float>(19 * 12));
  source.add("model.layers.0.self_attn.rotary_emb.inv_freq", {2}, {1, 2});
  EXPECT_NO_THROW(llama.map.check(source, "m"));
}

}  // namespace
}  // namespace charter
