// SPDX-License-Identifier: Apache-2.0
// text_gen: answers to prompts from a model, greedy or sampled, on one process.
#include <iostream>

#include "apps/support/run_app.hpp"
#include "apps/support/text_generation.hpp"

int main(int argc, char** argv) {
  charter::TextGenerationOptions options;
  charter::OptionSet set("text_gen", "Answers a prompt with a language model, greedy or sampled.");
  charter::add_text_generation_options(set, options);
  return charter::run_single_program(
      argc, argv, set, [&] { charter::check_text_generation_options(set, options); },
      [&] { return charter::generate_text(options, std::cout); });
}
