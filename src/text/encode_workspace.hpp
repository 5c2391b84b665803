// SPDX-License-Identifier: Apache-2.0
// What one call of Tokenizer::encode writes to, kept between calls so that caches stay warm, while the
// tokenizer itself never changes. Private to src/text.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "src/text/byte_pair_model.hpp"
#include "src/text/word_splitter.hpp"

namespace charter {

struct EncodeWorkspace {
  WordSplitter::Workspace splitter;
  BytePairModel::Workspace merging;
  std::vector<std::string_view> pieces, next_pieces;
};

// Workspaces wait here between calls: one lock a call, none a word.
class WorkspacePool {
 public:
  std::unique_ptr<EncodeWorkspace> take() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::make_unique<EncodeWorkspace>();
    std::unique_ptr<EncodeWorkspace> workspace = std::move(waiting_.back());
    waiting_.pop_back();
    return workspace;
  }
  void give_back(std::unique_ptr<EncodeWorkspace> workspace) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(workspace));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<EncodeWorkspace>> waiting_;
};

}  // namespace charter
