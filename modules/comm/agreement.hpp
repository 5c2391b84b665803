// SPDX-License-Identifier: Apache-2.0
// Decisions that all ranks of a group take alike. A local failure becomes the same error on every rank, so
// that nobody waits for a rank that has left. Used at the edges of phases (open, load, save, epoch), never
// per kernel. The callable given to together() is local: a communication inside it would hang when another
// rank fails.
#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "src/base/error.hpp"
#include "src/base/fingerprint.hpp"

namespace charter {

// An error that all ranks of a group threw together: "rank R of N: <phase>: <message>", in a group of one
// without the rank.
class AgreedError : public Error {
 public:
  AgreedError(ExitCode code, const std::string& message, int failing_rank, bool reporter)
      : Error(code, message), failing_rank_(failing_rank), reporter_(reporter) {}
  int failing_rank() const { return failing_rank_; }
  // True on the one rank of the group that prints the message.
  bool reporter() const { return reporter_; }

 private:
  int failing_rank_;
  bool reporter_;
};

// Collective. The part of together() that does not depend on the callable: `failure` is what this rank
// caught, or null. Returns when no rank failed; otherwise throws the AgreedError of the first failing rank on
// all ranks.
void agree_on_failure(const Communicator& group, std::string_view phase, const std::exception_ptr& failure,
                      CallSite where = CallSite::current());

// Collective. Runs `local` on every rank and returns its value when it succeeded on all of them; otherwise
// every rank throws the same AgreedError. Catches everything, std::bad_alloc (exit 71) and foreign types
// included. While it runs the log's phase is `phase`. **Cost** one integer all-reduce when all is well.
template <class Local>
auto together(const Communicator& group, std::string_view phase, Local&& local,
              CallSite where = CallSite::current()) -> std::invoke_result_t<Local> {
  using Result = std::invoke_result_t<Local>;
  static_assert(!std::is_reference_v<Result>,
                "together() hands values, not references, across the agreement");
  const ScopedPhase scoped(group.log(), std::string(phase));
  std::exception_ptr failure;
  if constexpr (std::is_void_v<Result>) {
    try {
      std::forward<Local>(local)();
    } catch (...) {
      failure = std::current_exception();
    }
    agree_on_failure(group, phase, failure, where);
  } else {
    std::optional<Result> result;
    try {
      result.emplace(std::forward<Local>(local)());
    } catch (...) {
      failure = std::current_exception();
    }
    agree_on_failure(group, phase, failure, where);
    return std::move(*result);
  }
}

// Collective. Rank 0 alone calls `read` (a file, the clock, a host name); all ranks get its text, or its
// error.
std::string agree_on_text(const Communicator& group, std::string_view phase,
                          const std::function<std::string()>& read, CallSite where = CallSite::current());

// Collective. Every rank's text, in rank order, on every rank.
std::vector<std::string> all_gather_text(const Communicator& group, std::string_view text,
                                         CallSite where = CallSite::current());

// Collective. Throws an AgreedError(configuration) on all ranks unless `fingerprint` is the same everywhere;
// the message names `what`, the ranks that differ from the majority, and both values. For binaries,
// configurations, inputs. `cure` says what to do.
void same_everywhere(const Communicator& group, std::string_view what, const Fingerprint& fingerprint,
                     std::string_view cure, CallSite where = CallSite::current());

// Collective. True on every rank when `flag` is true on any (stop, save, skip): every rank takes the same
// branch.
bool any_rank(const Communicator& group, bool flag, CallSite where = CallSite::current());

}  // namespace charter
