// SPDX-License-Identifier: Apache-2.0
// Fails in the way its first argument names; comm_faults_test.cpp looks at the outcome. The second argument
// is a folder.
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include <signal.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/session.hpp"
#include "modules/comm/signals.hpp"

namespace charter {
namespace {

// Long enough for a rank that a loaded machine lets wait, short enough for a test.
constexpr std::chrono::milliseconds deadline{2000};

// The last rank leaves out a collective that the others make.
ExitCode skip_a_collective(Session& session, const std::string& folder) {
  const Communicator& world = session.world();
  world.log().set_step(7);
  std::vector<float> data(16);
  world.broadcast(data, 0);
  session.start_watchdog(deadline, folder, {"node0", "node0", "node1"});
  if (world.rank() != world.size() - 1) world.all_reduce(data, ReduceOp::sum);
  if (world.rank() == world.size() - 1) {
    const ScopedPhase phase(world.log(), "wandering");
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  return ExitCode::done;
}

// The last rank returns while the others wait: it hangs in MPI_Finalize, they in a barrier.
ExitCode leave_early(Session& session, const std::string& folder) {
  session.start_watchdog(deadline, folder);
  const Communicator& world = session.world();
  if (world.rank() == world.size() - 1) return ExitCode::done;
  world.barrier();
  return ExitCode::done;
}

// SIGQUIT reaches all ranks while they wait in a barrier for the last one, which comes late. With `hangs` the
// last one then leaves out a collective.
ExitCode quit_while_waiting(Session& session, const std::string& folder, bool hangs) {
  const Communicator& world = session.world();
  const bool is_last = world.rank() == world.size() - 1;
  hold_signals();
  world.barrier();
  session.start_watchdog(hangs ? deadline : 10 * deadline, folder);
  std::thread quits([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(::getpid(), SIGQUIT);
  });
  if (is_last) std::this_thread::sleep_for(hangs ? deadline / 2 : 2 * deadline);
  world.barrier();
  quits.join();
  if (hangs && is_last) std::this_thread::sleep_for(std::chrono::seconds(60));
  world.all_reduce_value(1, ReduceOp::sum);
  return ExitCode::done;
}

// A receive that nobody sends to, without a folder for dumps.
ExitCode wait_for_nobody(Session& session, const std::string&) {
  session.start_watchdog(deadline);
  std::vector<float> data(16);
  const Communicator& world = session.world();
  Request request = world.ireceive(data, (world.rank() + 1) % world.size(), 1);
  request.wait_host();
  return ExitCode::done;
}

ExitCode fail_together(Session& session, const std::string&) {
  together(session.world(), "opening the model", [&] {
    if (session.world().rank() == 1) fail(ExitCode::missing_input, "model.h5: no such file");
  });
  return ExitCode::done;
}

// One rank fails between two agreements while the others go on to a collective.
ExitCode fail_alone(Session& session, const std::string&) {
  if (session.world().rank() == 1) fail(ExitCode::cannot_write, "out.h5: the disk is full");
  session.world().barrier();
  return ExitCode::done;
}

// A rank fails with communication in flight that its peers never join.
ExitCode fail_in_flight(Session& session, const std::string&) {
  const Communicator& world = session.world();
  std::vector<double> data(8, 1.0);
  if (world.rank() == 1) {
    const Request request = world.iall_reduce(data, ReduceOp::sum);
    fail(ExitCode::io_error, "data.jsonl: read error");
  }
  std::this_thread::sleep_for(std::chrono::seconds(60));
  return ExitCode::done;
}

ExitCode end_well(Session& session, const std::string&) {
  session.start_watchdog(std::chrono::seconds(60));
  session.world().barrier();
  return ExitCode::done;
}

ExitCode ask_to_requeue(Session& session, const std::string&) {
  session.world().barrier();
  return ExitCode::requeue;
}

// An error that unwinds past the session without Session::run.
int unwind_the_session() {
  const Session session;
  if (session.world().rank() == 1) {
    std::vector<float> data(3);
    session.world().broadcast(data, 99);  // refused, and noted
  }
  session.world().barrier();
  return 0;
}

int run(const std::string& mode, const std::string& folder) {
  if (mode == "unwind") return unwind_the_session();
  Session session;
  return session.run([&] {
    if (mode == "skip") return skip_a_collective(session, folder);
    if (mode == "leave") return leave_early(session, folder);
    if (mode == "quit") return quit_while_waiting(session, folder, false);
    if (mode == "quit-and-hang") return quit_while_waiting(session, folder, true);
    if (mode == "nobody") return wait_for_nobody(session, folder);
    if (mode == "together") return fail_together(session, folder);
    if (mode == "alone") return fail_alone(session, folder);
    if (mode == "in-flight") return fail_in_flight(session, folder);
    if (mode == "requeue") return ask_to_requeue(session, folder);
    return end_well(session, folder);
  });
}

}  // namespace
}  // namespace charter

int main(int argc, char** argv) {
  try {
    return charter::run(argc > 1 ? argv[1] : "", argc > 2 ? argv[2] : "");
  } catch (const charter::Error& error) {
    std::fprintf(stderr, "charter: %s\n", error.what());
    return static_cast<int>(error.code());
  }
}
