// SPDX-License-Identifier: Apache-2.0
// What model_convert does: a model's tensors streamed from one form into another, piece by piece.
#pragma once

#include <filesystem>

#include "src/base/data_type.hpp"
#include "src/base/exit_code.hpp"
#include "src/options/option_set.hpp"
#include "src/storage/safetensors_writer.hpp"

namespace charter {

enum class ModelFormat : std::uint8_t { hugging_face, hdf5 };

struct ConversionOptions {
  std::filesystem::path from;
  std::filesystem::path to;
  ModelFormat format = ModelFormat::hugging_face;
  DataType dtype = DataType::f32;
  ByteSize max_shard{default_shard_bytes};
  Duration plain_interval{30};
};

void add_conversion_options(OptionSet& set, ConversionOptions& options);
void check_conversion_options(const OptionSet& set, const ConversionOptions& options);

// Throws Error. Nothing that exists is overwritten; options.to appears complete or not at all. Memory is
// bounded by pieces of 16 MiB (for GPT-2, whose file has its matrices transposed, by a layer's largest
// matrix).
ExitCode convert_model(const ConversionOptions& options);

}  // namespace charter
