// SPDX-License-Identifier: Apache-2.0
// A run folder must be one folder for all ranks: on a node's own disk, checkpoints and token cache of the
// other nodes would be missing, or those of an old run.
#pragma once

#include <filesystem>
#include <string>

#include "modules/comm/communicator.hpp"

namespace charter {

// Collective. Rank 0 writes `token`, a text of this job only, to a file in `folder`, which exists on rank 0;
// every rank reads it, then it is removed. Throws on all ranks: configuration naming the first rank and host
// that do not see it within `patience_s` (file systems of clusters show new files late), cannot_write.
void require_shared_folder(const Communicator& world, const std::filesystem::path& folder,
                           const std::string& token, double patience_s = 30);

}  // namespace charter
