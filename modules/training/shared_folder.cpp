// SPDX-License-Identifier: Apache-2.0
#include "modules/training/shared_folder.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "src/base/file.hpp"
#include "src/base/host_name.hpp"

namespace charter {
namespace {

constexpr std::int64_t longest_token = 4096;

bool holds(const std::filesystem::path& file, const std::string& token) {
  try {
    return read_file(file, longest_token) == token;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void require_shared_folder(const Communicator& world, const std::filesystem::path& folder,
                           const std::string& token, double patience_s) {
  if (world.size() == 1) return;
  // A name of its own: no rank has looked for it before, so none remembers that it was not there.
  const std::filesystem::path file = folder / fmt::format(".seen-by-all-{}", token);
  together(world, "marking the run folder", [&] {
    if (world.rank() == 0) write_file_atomically(file, token);
  });
  std::exception_ptr failure;
  try {
    together(world, "looking for the run folder", [&] {
      const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(patience_s);
      while (!holds(file, token)) {
        if (std::chrono::steady_clock::now() > end) {
          fail(ExitCode::configuration,
               fmt::format(
                   "{}: host {} does not see the file that rank 0 wrote there: the folder is not shared "
                   "between the nodes. Choose one on a file system that all of them mount",
                   folder.string(), host_name()));
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
    });
  } catch (const AgreedError&) {
    failure = std::current_exception();
  }
  std::error_code ignored;
  if (world.rank() == 0) std::filesystem::remove(file, ignored);
  if (failure != nullptr) std::rethrow_exception(failure);
}

}  // namespace charter
