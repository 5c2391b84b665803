// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_summary.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace charter {
namespace {

std::int64_t fixed_point(double nats) {
  return std::llround(nats * 4294967296.0);
}

DocumentResult document(std::int64_t tokens, double loss, std::int64_t correct = 0, std::int64_t bytes = 0) {
  return {tokens, bytes, {fixed_point(loss), 0, correct}};
}

TEST(EvaluationSummary, FiguresOfTwoDocumentsByHand) {
  EvaluationSummary summary;
  summary.add(document(3, 6.0, 1, 10));
  summary.add(document(1, 4.0, 1, 6));
  EXPECT_EQ(summary.documents(), 2);
  EXPECT_EQ(summary.tokens(), 4);
  EXPECT_DOUBLE_EQ(summary.mean_loss(), 10.0 / 4);
  EXPECT_DOUBLE_EQ(summary.perplexity_by_token(), std::exp(2.5));
  // Documents have 2 and 4 nats a token, whatever their length.
  EXPECT_DOUBLE_EQ(summary.perplexity_by_document(), std::sqrt(std::exp(2.0) * std::exp(4.0)));
  EXPECT_DOUBLE_EQ(summary.bits_per_byte(), 10.0 / std::numbers::ln2 / 16);
  EXPECT_DOUBLE_EQ(summary.accuracy(), 0.5);
}

TEST(EvaluationSummary, ADocumentWithoutTokensIsLeftOutOfEveryFigure) {
  EvaluationSummary summary;
  summary.add(document(2, 2.0, 2));
  summary.add({});
  EXPECT_EQ(summary.documents(), 1);
  EXPECT_EQ(summary.left_out(), 1);
  EXPECT_DOUBLE_EQ(summary.perplexity_by_document(), std::numbers::e);
  EXPECT_TRUE(std::isnan(DocumentResult{}.perplexity()));
}

TEST(EvaluationSummary, NothingGivesNoFigureAndNoBytesNoBits) {
  EvaluationSummary summary;
  EXPECT_TRUE(std::isnan(summary.mean_loss()));
  EXPECT_TRUE(std::isnan(summary.perplexity_by_document()));
  summary.add(document(2, 2.0));
  EXPECT_TRUE(std::isnan(summary.bits_per_byte()));
}

TEST(EvaluationSummary, HoldsMoreNatsThanOneFixedPointNumber) {
  EvaluationSummary summary;
  for (int i = 0; i < 5; ++i) summary.add(document(1'000'000'000, 2'000'000'000.75));
  EXPECT_DOUBLE_EQ(summary.mean_loss(), 2.00000000075);
}

TEST(EvaluationSummary, ALossThatIsNotFiniteSpoilsAllFiguresOfLoss) {
  EvaluationSummary summary;
  summary.add(document(2, 2.0));
  summary.add({2, 3, {fixed_point(1.0), 1, 1}});
  EXPECT_EQ(summary.nonfinite(), 1);
  for (const double figure : {summary.mean_loss(), summary.perplexity_by_token(), summary.accuracy(),
                              summary.perplexity_by_document(), summary.bits_per_byte()}) {
    EXPECT_TRUE(std::isnan(figure));
  }
}

}  // namespace
}  // namespace charter
