// SPDX-License-Identifier: Apache-2.0
// Runs a callable that must throw charter::Error and gives its message, after a check of its exit code.
#pragma once

#include <string>

#include <gtest/gtest.h>

#include "src/base/error.hpp"

namespace charter {

template <class Callable>
std::string message_of(Callable&& callable, ExitCode expected) {
  try {
    callable();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), expected) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no charter::Error was thrown";
  return "";
}

}  // namespace charter
