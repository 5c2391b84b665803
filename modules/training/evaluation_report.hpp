// SPDX-License-Identifier: Apache-2.0
// What rank 0 makes of an evaluation: sums of samples joined to documents, a line for each, the figures of
// all. Local.
#pragma once

#include <optional>
#include <string>

#include "modules/training/evaluation_data.hpp"
#include "modules/training/evaluation_summary.hpp"
#include "src/report/json_lines_file.hpp"

namespace charter {

class EvaluationReport {
 public:
  // Opens the output file when there is one, so that one that cannot be written is known at once. Throws
  // cannot_write, as the other members do.
  explicit EvaluationReport(const EvaluationOptions& options);

  // The documents that the sums belong to; once, before the first sum. It must outlive the report.
  void begin(const EvaluationData& data) { data_ = &data; }
  // The next sample's sums, in the order of the store. A document's line is written with its last sample.
  void add(const LossSums& sums, std::int64_t tokens);
  // What is written so far, for others to see.
  void flush();
  // Completes the file. Every document has its line, those that were left out too.
  void finish();

  const EvaluationSummary& summary() const { return summary_; }
  std::int64_t documents_done() const { return done_; }
  // The first document with a loss that is not finite, for a message; empty when there is none.
  const std::string& first_nonfinite() const { return first_nonfinite_; }
  // The figures as a table.
  std::string text() const;

 private:
  void write_left_out();
  void write_document(const DocumentResult& result);

  const EvaluationOptions& options_;
  const EvaluationData* data_ = nullptr;
  std::optional<JsonLinesFile> file_;
  EvaluationSummary summary_;
  std::int64_t done_ = 0;     // documents
  std::int32_t samples_ = 0;  // of the present document
  DocumentResult present_;
  std::string first_nonfinite_;
};

}  // namespace charter
