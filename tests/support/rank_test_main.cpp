// SPDX-License-Identifier: Apache-2.0
// main() of every test on several ranks. At the end of each test, a point that all ranks reach, they exchange
// the messages of failed expectations; rank 0 prints them with their rank, and all ranks return the same
// status.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "src/tensor/compute_session.hpp"
#include "tests/support/rank_test.hpp"
#include "tests/support/time_scale.hpp"

namespace charter::test {
namespace {

Session* current_session = nullptr;

// Collects what this rank's expectations say, and shares it when a test ends.
class RankListener : public testing::EmptyTestEventListener {
 public:
  const std::vector<std::string>& failed_tests() const { return failed_tests_; }

 private:
  void OnTestStart(const testing::TestInfo&) override { messages_.clear(); }

  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    const char* file = result.file_name() != nullptr ? result.file_name() : "?";
    messages_ +=
        std::string(file) + ":" + std::to_string(result.line_number()) + ": " + result.message() + "\n";
  }

  void OnTestEnd(const testing::TestInfo& info) override {
    if (!any_rank(world(), !messages_.empty())) return;
    failed_tests_.push_back(std::string(info.test_suite_name()) + "." + info.name());
    const std::vector<std::string> messages = all_gather_text(world(), messages_);
    if (world().rank() != 0) return;
    for (std::size_t rank = 0; rank < messages.size(); ++rank) {
      if (messages[rank].empty()) continue;
      std::printf("[ RANK %3zu ] %s failed:\n%s", rank, failed_tests_.back().c_str(), messages[rank].c_str());
    }
    std::fflush(stdout);
  }

  std::string messages_;
  std::vector<std::string> failed_tests_;
};

// Every rank runs the tests; rank 0 alone shows their progress.
int run_tests() {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (world().rank() != 0) delete listeners.Release(listeners.default_result_printer());
  auto* listener = new RankListener;  // GoogleTest owns it
  listeners.Append(listener);
  const int own_status = RUN_ALL_TESTS();
  const bool failed = any_rank(world(), own_status != 0 || !listener->failed_tests().empty());
  if (world().rank() == 0) {
    for (const std::string& name : listener->failed_tests()) {
      std::printf("[  FAILED  ] %s on at least one of %d ranks\n", name.c_str(), world().size());
    }
  }
  return failed ? 1 : 0;
}

}  // namespace

Session& session() {
  return *current_session;
}
const Communicator& world() {
  return current_session->world();
}

bool expect_on_all(const Communicator& group, bool condition, const std::string& what) {
  EXPECT_TRUE(condition) << what << " (on this rank)";
  const bool everywhere = !any_rank(group, !condition);
  EXPECT_TRUE(everywhere || !condition) << what << " (on another rank)";
  return everywhere;
}

SharedFolder::SharedFolder(const std::string& name) {
  path_ = agree_on_text(world(), "make a folder", [&] {
    const auto folder =
        std::filesystem::temp_directory_path() / ("charter-" + name + "-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    return folder.string();
  });
}

SharedFolder::~SharedFolder() {
  world().barrier();
  std::error_code ignored;
  if (world().rank() == 0) std::filesystem::remove_all(path_, ignored);
}

}  // namespace charter::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  charter::CommSettings settings;
  settings.check_collectives = true;
  charter::Session session(settings);
  charter::test::current_session = &session;
  // A test that hangs ends with the name of the call instead of ctest's time limit.
  session.start_watchdog(std::chrono::seconds(60 * charter::test::time_scale()));
  return session.run([&] {
    const charter::ComputeSession compute;
    return static_cast<charter::ExitCode>(charter::test::run_tests());
  });
}
