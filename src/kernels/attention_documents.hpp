// SPDX-License-Identifier: Apache-2.0
// Which tokens of a packed micro-batch belong together. Documents is plain host data; DeviceDocuments adds
// what kernels need, once per micro-batch, and can outlive the Documents it was made from.
#pragma once

#include <cstdint>
#include <vector>

#include "src/tensor/execution_queue.hpp"

namespace charter::kernels {

// Document d holds tokens starts[d] .. starts[d + 1] - 1. Its sequence, in which positions count, is the
// sequence of its parent (when it has one) followed by its own tokens.
struct Documents {
  std::vector<std::int64_t> starts;   // D + 1 entries: 0 first, not decreasing, the number of tokens last
  std::vector<std::int64_t> parents;  // empty: none; else D entries, an earlier document each, or -1

  std::int64_t count() const { return starts.empty() ? 0 : static_cast<std::int64_t>(starts.size()) - 1; }
  std::int64_t parent(std::int64_t document) const {
    return parents.empty() ? -1 : parents[static_cast<std::size_t>(document)];
  }
};

// One document of `tokens` tokens.
Documents one_document(std::int64_t tokens);

// The position of every token in its document's sequence, as rotary embeddings want it. Shape: [tokens].
std::vector<std::int64_t> token_positions(const Documents& documents);

// Pairs (query, key) that see each other when `queries` queries follow `past` earlier positions of one
// sequence, under a window (0: none).
double visible_pairs_of_sequence(std::int64_t past, std::int64_t queries, std::int64_t window);

// Raw pointers into device memory for kernels; valid as long as the DeviceDocuments.
struct DocumentTable {
  const std::int64_t* token_document;    // [tokens]
  const std::int64_t* starts;            // [D + 1]
  const std::int64_t* offsets;           // [D] position of the first own token
  const std::int64_t* ancestor_begin;    // [D + 1] into ancestors
  const std::int64_t* ancestors;         // root first, the document itself last
  const std::int64_t* descendant_begin;  // [D + 1] into descendants
  const std::int64_t* descendants;       // in ascending order, the document itself first
};

class DeviceDocuments {
 public:
  // Throws internal when `documents` breaks its rules or does not end at `tokens`.
  DeviceDocuments(ExecutionQueue& queue, const Documents& documents, std::int64_t tokens);

  const Documents& host() const { return documents_; }
  std::int64_t tokens() const { return tokens_; }
  // Position of document d's first own token: the length of what it sees of its ancestors.
  std::int64_t offset(std::int64_t document) const { return offsets_[static_cast<std::size_t>(document)]; }
  // Document d's ancestors, root first, then itself.
  const std::vector<std::int64_t>& lineage(std::int64_t document) const {
    return lineages_[static_cast<std::size_t>(document)];
  }
  // Pairs (query token, key token) that see each other, under a window (0: none).
  double visible_pairs(std::int64_t window) const;
  const DocumentTable& table() const { return table_; }

 private:
  Documents documents_;
  std::int64_t tokens_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::vector<std::int64_t>> lineages_;
  std::vector<std::int64_t> packed_;  // the host side of device_: must live until the copy has happened
  DeviceBuffer<std::int64_t> device_;
  DocumentTable table_{};
};

}  // namespace charter::kernels
