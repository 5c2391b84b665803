// SPDX-License-Identifier: Apache-2.0
// How much longer than in an ordinary build a test waits before it gives up (CMake: CHARTER_TEST_TIME_SCALE).
#pragma once

namespace charter::test {

int time_scale();

}  // namespace charter::test
