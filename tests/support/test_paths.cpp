// SPDX-License-Identifier: Apache-2.0
#include "tests/support/test_paths.hpp"

namespace charter::test {

std::filesystem::path source_folder() {
  return CHARTER_SOURCE_DIR;
}

std::filesystem::path shared_data_folder() {
  return CHARTER_SHARED_DATA;
}

}  // namespace charter::test
