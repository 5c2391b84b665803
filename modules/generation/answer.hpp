// SPDX-License-Identifier: Apache-2.0
// One answer: tokens chosen one after another behind a prompt, until the model ends it or it is long enough.
// Depends on the prompt, the settings and the names of its draws only, never on what else is generated.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "modules/generation/token_sampler.hpp"
#include "src/model/sequence_decoder.hpp"

namespace charter {

enum class FinishReason : std::uint8_t {
  stop,    // the model chose a token that ends an answer
  length,  // max_tokens
};
std::string_view to_string(FinishReason reason);

struct AnswerSettings {
  SamplingSettings sampling;
  std::int64_t max_tokens = 128;
  std::vector<std::int32_t> stop_ids;
  bool with_log_probabilities = false;
};

// Which draws are meant: answer `sample` to a prompt whose key is `key`.
struct AnswerDraws {
  RandomKey key{};
  std::uint64_t sample = 0;
};

struct Answer {
  std::vector<std::int32_t> ids;  // without the stop token
  FinishReason finish = FinishReason::length;
  // Of each id, in nats, by the model itself: temperature, top_k and top_p do not count. Empty unless asked
  // for.
  std::vector<double> log_probabilities;
};

// Local. Goes on from `logits`, those behind the decoder's last token. Calls `on_token` (which may be empty)
// as the answer grows.
template <class T>
Answer generate_answer(SequenceDecoder<T>& decoder, std::vector<float> logits, const AnswerSettings& settings,
                       const AnswerDraws& draws, const std::function<void(std::int32_t)>& on_token = nullptr);

}  // namespace charter
