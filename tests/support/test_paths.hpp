// SPDX-License-Identifier: Apache-2.0
// Where tests find files. In one compiled file, so that the others are the same in every clone (and ccache
// knows them).
#pragma once

#include <filesystem>

namespace charter::test {

// The root of the source tree.
std::filesystem::path source_folder();
// Public models, tokenizers and data (CMake: CHARTER_SHARED_DATA); may be absent, then tests skip.
std::filesystem::path shared_data_folder();

}  // namespace charter::test
