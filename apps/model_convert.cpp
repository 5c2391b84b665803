// SPDX-License-Identifier: Apache-2.0
// model_convert: a model from one form to another: Hugging Face, GGUF or checkpoint to HDF5 or Hugging Face.
#include "apps/support/model_conversion.hpp"
#include "apps/support/run_app.hpp"

int main(int argc, char** argv) {
  charter::ConversionOptions options;
  charter::OptionSet set(
      "model_convert",
      "Writes a model in another form: the HDF5 checkpoint format, or a Hugging Face folder of safetensors.");
  charter::add_conversion_options(set, options);
  return charter::run_single_program(
      argc, argv, set, [&] { charter::check_conversion_options(set, options); },
      [&] { return charter::convert_model(options); }, charter::Kernels::none);
}
