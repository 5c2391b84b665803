// SPDX-License-Identifier: Apache-2.0
#include "tests/support/time_scale.hpp"

namespace charter::test {

int time_scale() {
  return CHARTER_TEST_TIME_SCALE;
}

}  // namespace charter::test
