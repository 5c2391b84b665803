// SPDX-License-Identifier: Apache-2.0
// main() of every one-process test: Kokkos lives for the whole run.
#include <gtest/gtest.h>

#include "src/tensor/compute_session.hpp"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const charter::ComputeSession compute;
  return RUN_ALL_TESTS();
}
