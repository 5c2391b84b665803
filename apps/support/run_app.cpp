// SPDX-License-Identifier: Apache-2.0
#include "apps/support/run_app.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <thread>

#include "apps/support/process_setup.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/comm/failure.hpp"
#include "modules/comm/launcher.hpp"
#include "modules/comm/same_texts.hpp"
#include "modules/comm/signals.hpp"
#include "modules/topology/node_layout.hpp"
#include "src/base/log.hpp"
#include "src/tensor/compute_session.hpp"

namespace charter {
namespace {

const char* environment(const char* name) {
  return std::getenv(name);
}

// Where no MPI says who is rank 0, the launcher's environment does: what all processes of a launch would say
// alike, help or a wrong option, is said once.
// Returns whether this process is silent.
bool let_one_speak() {
  const int rank = static_cast<int>(rank_in_launch(environment));
  set_log_identity({.rank = rank, .show_on_terminal = rank == 0});
  return rank != 0;
}

void print_once(const std::string& text) {
  if (rank_in_launch(environment) == 0) std::fputs(text.c_str(), stdout);
}

// Prints help or version when one of them is asked for; then the program ends.
bool answers_without_work(ParseAction action, const OptionSet& set) {
  if (action == ParseAction::run) return false;
  print_once(action == ParseAction::show_help ? set.help() : set.version() + "\n");
  return true;
}

bool asks_for_help(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--help" || argument == "--version") return true;
  }
  return false;
}

// The error of the current exception, printed; its exit status. The first process that ends with an error
// ends the whole launch: a silent one leaves the one that speaks the time for it. The launcher cuts this
// short.
int report_current_exception(bool silent) {
  const Failure failure = describe_failure(std::current_exception());
  log_error(failure.message);
  if (silent) std::this_thread::sleep_for(std::chrono::seconds(10));
  return static_cast<int>(failure.code);
}

// Ranks of two builds or with different options would compute different things, or wait for each other
// forever.
void require_equal_start(const Communicator& world, const OptionSet& set) {
  std::vector<NamedText> texts =
      together(world, "looking at the program", [] { return std::vector{program_text()}; });
  for (const auto& [name, values] : set.resolved()) texts.push_back({name, values});
  same_texts_everywhere(world, "the program or its options", texts,
                        "Start all ranks by one command, from one build that every node has");
}

void refuse_several_processes() {
  const auto claim = launcher_claim(environment);
  if (!claim || claim->ranks <= 1) return;
  fail(ExitCode::configuration, "this program is one process, but its launcher started several (" +
                                    claim->variable + "); start it without mpirun or srun, or with one rank");
}

bool is_dry_run(const OptionSet& set) {
  return std::ranges::any_of(set.resolved(), [](const auto& option) {
    return option.first == "--dry-run" && option.second == "true";
  });
}

ExitCode parse_and_run(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                       Session& session, const std::function<ExitCode(Session&)>& program) {
  const Communicator& world = session.world();
  // The config is read by rank 0 and broadcast; what follows from it is the same on all ranks, and so is a
  // failure.
  std::exception_ptr failure;
  try {
    set.parse(argc, argv, [&](const std::filesystem::path& path) {
      return agree_on_text(world, "reading " + path.string(), [&] { return read_config_file(path); });
    });
    check();
  } catch (const AgreedError&) {
    throw;
  } catch (...) {
    failure = std::current_exception();
  }
  agree_on_failure(world, "reading the command line", failure);
  require_equal_start(world, set);
  const NodeLayout layout = find_node_layout(world);
  std::optional<ComputeSession> compute;
  if (!is_dry_run(set)) compute.emplace(layout.places[static_cast<std::size_t>(world.rank())].threads);
  return program(session);
}

int run_in_session(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                   const std::function<ExitCode(Session&)>& program, Signals signals) {
  Session session;
  if (signals == Signals::are_taken) hold_signals();
  return session.run([&] { return parse_and_run(argc, argv, set, check, session, program); });
}

}  // namespace

int run_parallel_program(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                         const std::function<ExitCode(Session&)>& program, Signals signals) {
  prepare_process();
  ignore_broken_pipes();
  bool silent = false;
  try {
    bool answered = false;
    if (asks_for_help(argc, argv)) {
      silent = let_one_speak();
      answered = answers_without_work(set.parse(argc, argv), set);
    }
    const int status = answered ? 0 : run_in_session(argc, argv, set, check, program, signals);
    if (status == 0) require_output_written();
    return status;
  } catch (...) {
    return report_current_exception(silent);
  }
}

int run_single_program(int argc, char** argv, OptionSet& set, const std::function<void()>& check,
                       const std::function<ExitCode()>& program, Kernels kernels) {
  prepare_process();
  const bool silent = let_one_speak();
  try {
    ExitCode code = ExitCode::done;
    if (!answers_without_work(set.parse(argc, argv), set)) {
      check();
      refuse_several_processes();
      std::optional<ComputeSession> compute;
      if (kernels == Kernels::launched) compute.emplace(static_cast<int>(available_cores().size()));
      code = program();
    }
    require_output_written();
    return static_cast<int>(code);
  } catch (...) {
    return report_current_exception(silent);
  }
}

int run_commands(int argc, char** argv, CommandSet& set,
                 const std::map<std::string, std::function<ExitCode()>>& programs) {
  prepare_process();
  const bool silent = let_one_speak();
  try {
    const CommandSet::Choice choice = set.parse(argc, argv);
    print_once(choice.text);
    ExitCode code = ExitCode::done;
    if (choice.action == ParseAction::run) {
      refuse_several_processes();
      code = programs.at(choice.command)();
    }
    require_output_written();
    return static_cast<int>(code);
  } catch (...) {
    return report_current_exception(silent);
  }
}

}  // namespace charter
