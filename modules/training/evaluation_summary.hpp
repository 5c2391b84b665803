// SPDX-License-Identifier: Apache-2.0
// The figures of an evaluation from the sums of its documents, defined in docs/evaluation.md. Exact integers
// until the last division, so the same on every mesh that gives equal sums. Local.
#pragma once

#include <cstdint>

#include "modules/training/loss_sums.hpp"

namespace charter {

struct DocumentResult {
  std::int64_t tokens = 0;  // targets that count
  std::int64_t bytes = 0;   // of their text
  LossSums sums;

  double loss() const;        // nats, summed
  double perplexity() const;  // NaN without tokens or when a loss was not finite
};

class EvaluationSummary {
 public:
  // In the order of the input, in which the means of documents are added. A document without tokens counts as
  // left out.
  void add(const DocumentResult& document);

  std::int64_t documents() const { return documents_; }
  std::int64_t left_out() const { return left_out_; }
  std::int64_t tokens() const { return tokens_; }
  std::int64_t bytes() const { return bytes_; }
  std::int64_t nonfinite() const { return nonfinite_; }

  // All NaN without tokens or when a loss was not finite.
  double mean_loss() const;               // nats a token
  double perplexity_by_token() const;     // exp of it
  double perplexity_by_document() const;  // geometric mean of the documents' perplexities
  double bits_per_byte() const;           // also NaN without bytes
  double accuracy() const;                // share of tokens that were the most likely one

 private:
  double total_loss() const;

  std::int64_t documents_ = 0;
  std::int64_t left_out_ = 0;
  std::int64_t tokens_ = 0;
  std::int64_t bytes_ = 0;
  std::int64_t correct_ = 0;
  std::int64_t nonfinite_ = 0;
  // The sum of all losses in two parts, nats and 2^-32 nats: one 64-bit number holds 2^31 nats only, less
  // than a billion tokens may have.
  std::int64_t whole_nats_ = 0;
  std::int64_t fraction_ = 0;
  double sum_of_means_ = 0;
};

}  // namespace charter
