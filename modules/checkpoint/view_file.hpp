// SPDX-License-Identifier: Apache-2.0
// view.h5: every logical tensor whole, as virtual data sets over the parts, for h5dump, h5py and HDFView.
// Never read by Charter. Local.
#pragma once

#include <filesystem>

#include "modules/checkpoint/manifest.hpp"

namespace charter {

// Writes <folder>/view.h5, fsynced. Throws cannot_write.
void write_view(const std::filesystem::path& folder, const CheckpointManifest& manifest);

}  // namespace charter
