// SPDX-License-Identifier: Apache-2.0
#include "src/kernels/attention_documents.hpp"

#include <algorithm>

namespace charter::kernels {

Documents one_document(std::int64_t tokens) {
  return {{0, tokens}, {}};
}

std::vector<std::int64_t> token_positions(const Documents& documents) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(documents.count()), 0);
  std::vector<std::int64_t> positions;
  for (std::int64_t d = 0; d < documents.count(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t parent = documents.parent(d);
    if (parent >= 0) {
      const auto p = static_cast<std::size_t>(parent);
      offsets[at] = offsets[p] + documents.starts[p + 1] - documents.starts[p];
    }
    for (std::int64_t t = documents.starts[at]; t < documents.starts[at + 1]; ++t) {
      positions.push_back(offsets[at] + t - documents.starts[at]);
    }
  }
  return positions;
}

DeviceDocuments::DeviceDocuments(ExecutionQueue& queue, const Documents& documents, std::int64_t tokens)
    : documents_(documents), tokens_(tokens) {
  const std::int64_t count = documents.count();
  require(!documents.starts.empty() && documents.starts.front() == 0 && documents.starts.back() == tokens &&
              std::ranges::is_sorted(documents.starts),
          "document starts ascend from 0 to the number of tokens");
  require(documents.parents.empty() || static_cast<std::int64_t>(documents.parents.size()) == count,
          "every document has an entry for its parent");
  std::vector<std::int64_t> token_document(static_cast<std::size_t>(tokens));
  std::vector<std::vector<std::int64_t>> descendants(static_cast<std::size_t>(count));
  for (std::int64_t d = 0; d < count; ++d) {
    const auto at = static_cast<std::size_t>(d);
    const std::int64_t parent = documents.parent(d);
    require(parent >= -1 && parent < d, "a parent is an earlier document");
    lineages_.push_back(parent < 0 ? std::vector<std::int64_t>{}
                                   : lineages_[static_cast<std::size_t>(parent)]);
    lineages_.back().push_back(d);
    std::int64_t offset = 0;
    for (const std::int64_t ancestor : lineages_.back()) {
      const auto a = static_cast<std::size_t>(ancestor);
      if (ancestor != d) offset += documents.starts[a + 1] - documents.starts[a];
      descendants[a].push_back(d);
    }
    offsets_.push_back(offset);
    std::fill(token_document.begin() + documents.starts[at],
              token_document.begin() + documents.starts[at + 1], d);
  }
  std::vector<std::size_t> begins;
  const auto append = [&](const std::vector<std::int64_t>& values) {
    begins.push_back(packed_.size());
    packed_.insert(packed_.end(), values.begin(), values.end());
  };
  const auto append_lists = [&](const std::vector<std::vector<std::int64_t>>& lists) {
    std::vector<std::int64_t> begin{0};
    std::vector<std::int64_t> flat;
    for (const auto& list : lists) {
      flat.insert(flat.end(), list.begin(), list.end());
      begin.push_back(static_cast<std::int64_t>(flat.size()));
    }
    append(begin);
    append(flat);
  };
  append(token_document);
  append(documents.starts);
  append(offsets_);
  append_lists(lineages_);
  append_lists(descendants);
  device_ = make_buffer<std::int64_t>(queue, MemoryCategory::activations,
                                      {static_cast<std::int64_t>(packed_.size())}, "DeviceDocuments");
  copy_to_device<std::int64_t>(queue, device_.tensor(), packed_);
  const std::int64_t* base = device_.data();
  table_ = {base + begins[0], base + begins[1], base + begins[2], base + begins[3],
            base + begins[4], base + begins[5], base + begins[6]};
}

double DeviceDocuments::visible_pairs(std::int64_t window) const {
  double pairs = 0;
  for (std::int64_t d = 0; d < documents_.count(); ++d) {
    const auto at = static_cast<std::size_t>(d);
    pairs +=
        visible_pairs_of_sequence(offsets_[at], documents_.starts[at + 1] - documents_.starts[at], window);
  }
  return pairs;
}

double visible_pairs_of_sequence(std::int64_t past, std::int64_t queries, std::int64_t window) {
  // Positions below `full` see everything before them, the others a whole window.
  const std::int64_t end = past + queries;
  const std::int64_t full = window > 0 ? std::clamp(window, past, end) : end;
  const auto triangle = [](std::int64_t n) {
    return 0.5 * static_cast<double>(n) * static_cast<double>(n + 1);
  };
  return triangle(full) - triangle(past) + static_cast<double>(end - full) * static_cast<double>(window);
}

}  // namespace charter::kernels
