// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_report.hpp"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "src/report/console_table.hpp"
#include "src/report/json_line.hpp"

namespace charter {
namespace {

std::string figure(double value, const char* unit = "") {
  return std::isnan(value) ? "-" : fmt::format("{:.6g}{}", value, unit);
}

}  // namespace

EvaluationReport::EvaluationReport(const EvaluationOptions& options) : options_(options) {
  if (options.output.empty()) return;
  file_.emplace(options.output, options.overwrite ? IfFileExists::replace : IfFileExists::refuse);
}

void EvaluationReport::add(const LossSums& sums, std::int64_t tokens) {
  write_left_out();
  present_.sums += sums;
  present_.tokens += tokens;
  ++samples_;
  const DocumentOrigin& origin = data_->documents[static_cast<std::size_t>(done_)];
  if (samples_ == origin.samples) write_document(present_);
}

// Documents without samples stand between those that have some.
void EvaluationReport::write_left_out() {
  while (done_ < std::ssize(data_->documents) &&
         data_->documents[static_cast<std::size_t>(done_)].samples == 0)
    write_document({});
}

void EvaluationReport::write_document(const DocumentResult& result) {
  const DocumentOrigin& origin = data_->documents[static_cast<std::size_t>(done_)];
  const std::string& source = options_.data[static_cast<std::size_t>(origin.file)].native();
  DocumentResult document = result;
  if (data_->bytes_are_known) document.bytes = origin.bytes;
  summary_.add(document);
  if (document.sums.nonfinite > 0 && first_nonfinite_.empty())
    first_nonfinite_ = fmt::format("{}:{}", source, origin.line);
  if (file_) {
    const MetricValue bytes =
        data_->bytes_are_known ? MetricValue(document.bytes) : MetricValue(std::nan(""));
    const std::array<Metric, 8> line{{{"index", done_},
                                      {"source", source},
                                      {"line", origin.line},
                                      {"tokens", document.tokens},
                                      {"bytes", bytes},
                                      {"loss", document.loss()},
                                      {"perplexity", document.perplexity()},
                                      {"correct", document.sums.correct}}};
    file_->write(json_line(line));
  }
  ++done_;
  samples_ = 0;
  present_ = {};
}

void EvaluationReport::flush() {
  if (file_) file_->flush();
}

void EvaluationReport::finish() {
  write_left_out();
  require(done_ == std::ssize(data_->documents), "every document was evaluated");
  if (file_) file_->finish();
}

std::string EvaluationReport::text() const {
  ConsoleTable table({{"figure", Align::left}, {"value", Align::right}});
  table.add_row({"documents", fmt::format("{}", summary_.documents())});
  if (summary_.left_out() > 0) table.add_row({"documents left out", fmt::format("{}", summary_.left_out())});
  table.add_row({"tokens that count", fmt::format("{}", summary_.tokens())});
  table.add_row({"mean loss", figure(summary_.mean_loss(), " nats a token")});
  table.add_row({"perplexity by token", figure(summary_.perplexity_by_token())});
  table.add_row({"perplexity by document", figure(summary_.perplexity_by_document())});
  table.add_row({"bits per byte", figure(summary_.bits_per_byte())});
  table.add_row({"next-token accuracy", figure(100 * summary_.accuracy(), " %")});
  return table.render();
}

}  // namespace charter
