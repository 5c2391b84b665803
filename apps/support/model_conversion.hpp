// SPDX-License-Identifier: Apache-2.0
// What model_convert does: a model's tensors streamed from one form into another, piece by piece.
#pragma once

#include <filesystem>

#include "src/base/data_type.hpp"
#include "src/base/exit_code.hpp"
#include "src/options/option_set.hpp"

namespace charter {

enum class ModelFormat : std::uint8_t { hugging_face, hdf5 };

struct ConversionOptions {
  std::filesystem::path from;
  std::filesystem::path to;
  ModelFormat format = ModelFormat::hugging_face;
  DataType dtype = DataType::f32;
};

void add_conversion_options(OptionSet& set, ConversionOptions& options);

// Throws Error; nothing that exists is overwritten.
ExitCode convert_model(const ConversionOptions& options);

}  // namespace charter
