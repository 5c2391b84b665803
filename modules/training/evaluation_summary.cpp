// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_summary.hpp"

#include <cmath>
#include <numbers>

#include "src/kernels/reduce.hpp"

namespace charter {
namespace {

constexpr std::int64_t fractions_of_a_nat = std::int64_t{1} << 32;
static_assert(kernels::loss_resolution * static_cast<double>(fractions_of_a_nat) == 1.0);

}  // namespace

double DocumentResult::loss() const {
  return sums.nonfinite > 0 ? std::nan("") : kernels::loss_from_fixed_point(sums.loss_fixed_point);
}

double DocumentResult::perplexity() const {
  return tokens == 0 ? std::nan("") : std::exp(sums.mean_loss(tokens));
}

void EvaluationSummary::add(const DocumentResult& document) {
  if (document.tokens == 0) {
    ++left_out_;
    return;
  }
  ++documents_;
  tokens_ += document.tokens;
  bytes_ += document.bytes;
  correct_ += document.sums.correct;
  nonfinite_ += document.sums.nonfinite;
  // Losses are not negative but for the rounding of a soft-max, so neither part can wrap.
  fraction_ += document.sums.loss_fixed_point % fractions_of_a_nat;
  whole_nats_ += document.sums.loss_fixed_point / fractions_of_a_nat + fraction_ / fractions_of_a_nat;
  fraction_ %= fractions_of_a_nat;
  sum_of_means_ += document.sums.mean_loss(document.tokens);
}

double EvaluationSummary::total_loss() const {
  if (nonfinite_ > 0 || tokens_ == 0) return std::nan("");
  return static_cast<double>(whole_nats_) + kernels::loss_from_fixed_point(fraction_);
}

double EvaluationSummary::mean_loss() const {
  return total_loss() / static_cast<double>(tokens_);
}

double EvaluationSummary::perplexity_by_token() const {
  return std::exp(mean_loss());
}

double EvaluationSummary::perplexity_by_document() const {
  return documents_ == 0 ? std::nan("") : std::exp(sum_of_means_ / static_cast<double>(documents_));
}

double EvaluationSummary::bits_per_byte() const {
  return bytes_ == 0 ? std::nan("") : total_loss() / std::numbers::ln2 / static_cast<double>(bytes_);
}

double EvaluationSummary::accuracy() const {
  if (nonfinite_ > 0 || tokens_ == 0) return std::nan("");
  return static_cast<double>(correct_) / static_cast<double>(tokens_);
}

}  // namespace charter
