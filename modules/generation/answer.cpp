// SPDX-License-Identifier: Apache-2.0
#include "modules/generation/answer.hpp"

#include <algorithm>

namespace charter {

std::string_view to_string(FinishReason reason) {
  return reason == FinishReason::stop ? "stop" : "length";
}

template <class T>
Answer generate_answer(SequenceDecoder<T>& decoder, std::vector<float> logits, const AnswerSettings& settings,
                       const AnswerDraws& draws, const std::function<void(std::int32_t)>& on_token) {
  Answer answer;
  while (static_cast<std::int64_t>(answer.ids.size()) < settings.max_tokens) {
    const std::int32_t next =
        choose_token(logits, settings.sampling, draws.key, draws.sample, answer.ids.size());
    if (std::ranges::find(settings.stop_ids, next) != settings.stop_ids.end()) {
      answer.finish = FinishReason::stop;
      return answer;
    }
    answer.ids.push_back(next);
    if (settings.with_log_probabilities) answer.log_probabilities.push_back(log_probability(logits, next));
    if (on_token) on_token(next);
    if (static_cast<std::int64_t>(answer.ids.size()) < settings.max_tokens) logits = decoder.append({next});
  }
  return answer;
}

template Answer generate_answer<float>(SequenceDecoder<float>&, std::vector<float>, const AnswerSettings&,
                                       const AnswerDraws&, const std::function<void(std::int32_t)>&);
template Answer generate_answer<double>(SequenceDecoder<double>&, std::vector<float>, const AnswerSettings&,
                                        const AnswerDraws&, const std::function<void(std::int32_t)>&);

}  // namespace charter
