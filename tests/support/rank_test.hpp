// SPDX-License-Identifier: Apache-2.0
// What a test on several ranks needs beside GoogleTest. Its main (rank_test_main.cpp) lets all ranks agree on
// the result at the end of each test, so between collectives use EXPECT, not ASSERT: a rank that leaves early
// would hang.
#pragma once

#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "modules/comm/communicator.hpp"
#include "modules/comm/session.hpp"

namespace charter::test {

// Local. The session of the test program and its world.
Session& session();
const Communicator& world();

// Collective. Fails the test on every rank unless `condition` holds on all; returns whether it did. For a
// condition that decides whether the test can go on.
bool expect_on_all(const Communicator& group, bool condition, const std::string& what);

// Collective. A fresh folder that all ranks see, removed by rank 0 when the object dies (collectively, in
// normal flow).
class SharedFolder {
 public:
  explicit SharedFolder(const std::string& name);
  ~SharedFolder();
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace charter::test
