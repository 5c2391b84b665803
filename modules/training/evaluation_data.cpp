// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_data.hpp"

#include <array>
#include <limits>
#include <string>
#include <string_view>

#include "modules/training/training_data.hpp"
#include "src/base/error.hpp"
#include "src/base/scratch_folder.hpp"

namespace charter {
namespace {

// Whether tokens spell out a text byte for byte: not where words come without the white space between them, a
// space is put in front, or a word is unknown.
bool spells_text(const Tokenizer& tokenizer) {
  constexpr std::string_view probe = "a  b\n\nc ";
  std::string spelled;
  try {
    for (const TokenId id : tokenizer.encode(probe)) spelled += tokenizer.piece(id);
  } catch (const Error&) {
    return false;  // a toy vocabulary without these letters
  }
  return spelled == probe;
}

// The bytes of every token, 0 for markers. Empty when tokens do not spell out a text.
std::vector<std::int32_t> token_bytes(const Tokenizer& tokenizer) {
  if (!spells_text(tokenizer)) return {};
  std::vector<std::int32_t> bytes;
  bytes.reserve(static_cast<std::size_t>(tokenizer.vocabulary_size()));
  for (TokenId id = 0; id < tokenizer.vocabulary_size(); ++id) {
    bytes.push_back(tokenizer.is_special(id) ? 0 : static_cast<std::int32_t>(tokenizer.piece(id).size()));
  }
  return bytes;
}

std::int64_t counted_bytes(const Sample& sample, std::span<const std::int32_t> bytes_of_token) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < sample.ids.size(); ++i) {
    const auto id = static_cast<std::size_t>(sample.ids[i]);
    if (sample.loss_mask[i] != 0 && id < bytes_of_token.size()) bytes += bytes_of_token[id];
  }
  return bytes;
}

}  // namespace

EvaluationData read_evaluation_data(const EvaluationOptions& options, const ModelConfig& config,
                                    const ModelFiles& files) {
  const ModelText text =
      model_text_of(files.text(), files.config_json(), options.chat_template, "tokenizer.json");
  const std::vector<std::int32_t> bytes_of_token = token_bytes(text.tokenizer);
  std::vector<DocumentOrigin> documents;
  SampleCacheRequest request;
  request.files = options.data;
  request.options = options.samples;
  request.skip_bad = options.skip_bad_lines;
  request.on_record = [&](std::size_t file, const Record& record, std::span<const Sample> samples) {
    std::int64_t bytes = 0;
    for (const Sample& sample : samples) bytes += counted_bytes(sample, bytes_of_token);
    documents.push_back(
        {record.line, bytes, static_cast<std::int32_t>(file), static_cast<std::int32_t>(samples.size())});
  };
  // The mapping outlives the folder.
  const ScratchFolder folder("evaluation");
  const SampleCache cache =
      tokenise(std::move(request), config, text, folder.path() / "samples.cache", StaleCache::refuse);
  return {cache.store, std::move(documents), statistics_of(cache), !bytes_of_token.empty()};
}

GlobalBatch next_portion(const SampleStore& store, std::int64_t first, std::int64_t tokens) {
  GlobalBatch portion;
  std::int64_t taken = 0;
  for (portion.next_cursor = first; portion.next_cursor < store.size(); ++portion.next_cursor) {
    const std::int64_t sample = portion.next_cursor;
    taken += store.input_tokens(sample);
    if (taken > tokens && sample > first) break;
    portion.samples.push_back(sample);
    portion.input_tokens.push_back(store.input_tokens(sample));
    portion.loss_tokens.push_back(store.loss_tokens(sample));
  }
  return portion;
}

std::int64_t portion_tokens(const EvaluationOptions& options, int dp) {
  // Enough that ranks wait little for the one with the most, few enough to be handed out and reported often.
  constexpr std::int64_t micro_batches_a_rank = 4;
  return micro_batches_a_rank * dp * options.micro_batch * options.samples.max_length;
}

StepPlan plan_portion(const GlobalBatch& portion, const EvaluationOptions& options, int dp) {
  StepPlanOptions plan;
  plan.dp = dp;
  plan.micro_batch = options.micro_batch;
  plan.max_length = options.samples.max_length;
  return plan_step(portion.input_tokens, portion.loss_tokens, plan);
}

SharedPortion share_portion(const Communicator& world, const EvaluationData* data, std::int64_t first,
                            std::int64_t tokens) {
  std::vector<std::int64_t> lengths;
  std::vector<TokenId> ids;
  std::vector<unsigned char> mask;
  std::array<std::int64_t, 3> sizes{};  // samples, ids, where the next portion starts
  if (data != nullptr) {
    const GlobalBatch portion = next_portion(data->store, first, tokens);
    for (const std::int64_t index : portion.samples) {
      const Sample sample = data->store.sample(index);
      lengths.push_back(static_cast<std::int64_t>(sample.ids.size()));
      ids.insert(ids.end(), sample.ids.begin(), sample.ids.end());
      mask.insert(mask.end(), sample.loss_mask.begin(), sample.loss_mask.end());
    }
    sizes = {static_cast<std::int64_t>(lengths.size()), static_cast<std::int64_t>(ids.size()),
             portion.next_cursor};
  }
  world.broadcast(sizes, 0);
  lengths.resize(static_cast<std::size_t>(sizes[0]));
  ids.resize(static_cast<std::size_t>(sizes[1]));
  mask.resize(ids.size());
  world.broadcast(lengths, 0);
  world.broadcast(ids, 0);
  world.broadcast(mask, 0);
  std::vector<Sample> samples;
  std::ptrdiff_t at = 0;
  for (const std::int64_t length : lengths) {
    samples.push_back(
        {{ids.begin() + at, ids.begin() + at + length}, {mask.begin() + at, mask.begin() + at + length}});
    at += length;
  }
  SharedPortion shared{SampleStore::of(samples), {}};
  shared.batch = next_portion(shared.store, 0, std::numeric_limits<std::int64_t>::max());
  shared.batch.next_cursor = sizes[2];
  return shared;
}

}  // namespace charter
