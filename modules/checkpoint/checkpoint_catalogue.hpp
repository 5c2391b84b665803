// SPDX-License-Identifier: Apache-2.0
// A run's checkpoints folder as it is on disk. States are names (checkpoint_names.hpp), changes are renames,
// and the small files beside them are: LATEST (a hint for people and scripts, never read), BEST, PINNED (one
// step a line, edited by hand), BAD (what was put aside and why). Rank 0 only, inside together(). No
// communication.
#pragma once

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "modules/checkpoint/checkpoint_names.hpp"

namespace charter {

struct BestMark {
  std::int64_t step = 0;
  double loss = 0;
};

class CheckpointCatalogue {
 public:
  // Local, all of them. `folder` is <run_folder>/checkpoints; it need not exist.
  explicit CheckpointCatalogue(const std::filesystem::path& folder) : folder_(folder) {}

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path path_of(std::int64_t step) const;

  // Makes the folder; umask and setgid as the system does. Throws cannot_write.
  void create() const;
  // Deletes folders in flight and in the bin: with the run lock held nobody works in them any more. Logged.
  void sweep() const;

  // Steps of committed folders, ascending. Throws io_error when the folder cannot be listed.
  std::vector<std::int64_t> committed() const;
  // Names of folders put aside as bad or superseded, ascending; and of those in flight or being deleted.
  std::vector<std::string> put_aside() const;
  std::vector<std::string> passing() const;

  // Makes the empty folder of a checkpoint in flight. Throws cannot_write.
  std::filesystem::path begin(std::int64_t step, const std::string& job) const;
  // in flight -> committed by one rename, on disk when this returns. Throws cannot_write.
  void commit(const std::filesystem::path& in_flight, std::int64_t step) const;
  // Deletes a folder in flight; what cannot be deleted is logged and swept at the next start.
  void discard(const std::filesystem::path& in_flight) const;
  // Writes LATEST. Failures are logged: it is a hint.
  void hint_latest(std::int64_t step) const;

  // committed -> .bad, recorded in BAD with the reason; and -> .superseded. Throws cannot_write.
  void put_aside_as_bad(std::int64_t step, const std::string& reason) const;
  void put_aside_as_superseded(std::int64_t step) const;
  // Deletes a committed checkpoint: first renamed, so that no half of one is ever seen. Failures are logged.
  void remove(std::int64_t step) const;

  // Throws cannot_write.
  void mark_best(const BestMark& mark) const;
  // Nothing when there is no mark, it is not readable (logged), or its checkpoint is gone.
  std::optional<BestMark> best() const;
  // Steps in PINNED; lines that are not a step (123 or step-0000000123) or a # comment are logged.
  std::set<std::int64_t> pinned() const;

 private:
  std::vector<std::string> names() const;
  std::vector<std::string> names_in(std::initializer_list<FolderState> states) const;
  std::filesystem::path put_aside_as(std::int64_t step, const std::string& suffix) const;

  std::filesystem::path folder_;
};

}  // namespace charter
