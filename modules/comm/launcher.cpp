// SPDX-License-Identifier: Apache-2.0
#include "modules/comm/launcher.hpp"

#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "src/base/error.hpp"

namespace charter {
namespace {

// The variable as a number that is not negative, or nothing.
std::optional<long> number_of(const EnvironmentLookup& lookup, const char* name) {
  const char* text = lookup(name);
  if (text == nullptr) return std::nullopt;
  long value = -1;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

// Slurm numbers the batch script's own step and an interactive shell from here; they are not started by srun,
// though SLURM_NTASKS is set in them.
constexpr long first_special_slurm_step = 0xfffffff0L;

std::optional<LauncherClaim> slurm_claim(const EnvironmentLookup& lookup) {
  const auto step = number_of(lookup, "SLURM_STEP_ID");
  if (!step || *step >= first_special_slurm_step) return std::nullopt;
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}) {
    if (const auto ranks = number_of(lookup, name))
      return LauncherClaim{fmt::format("{}={}", name, *ranks), *ranks};
  }
  return std::nullopt;
}

}  // namespace

std::optional<LauncherClaim> launcher_claim(const EnvironmentLookup& lookup) {
  struct Source {
    const char* variable;
    bool is_rank;  // a rank r says that there are at least r + 1
  };
  // Inner launchers first: mpirun inside a step of srun sets its own variables and inherits srun's.
  constexpr std::array<Source, 7> sources = {{{"OMPI_COMM_WORLD_SIZE", false},
                                              {"PMI_SIZE", false},
                                              {"PALS_RANKID", true},
                                              {"FLUX_JOB_SIZE", false},
                                              {"JSM_NAMESPACE_SIZE", false},
                                              {"MPI_LOCALNRANKS", false},
                                              {"PMIX_RANK", true}}};
  for (const Source& source : sources) {
    const auto value = number_of(lookup, source.variable);
    if (!value) continue;
    // PMIx tells a rank only; Slurm may say more about the same launch.
    if (source.is_rank && *value == 0) continue;
    return LauncherClaim{fmt::format("{}={}", source.variable, *value), source.is_rank ? *value + 1 : *value};
  }
  return slurm_claim(lookup);
}

long rank_in_launch(const EnvironmentLookup& lookup) {
  // Inner launchers first, as above.
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "FLUX_TASK_RANK",
                           "JSM_NAMESPACE_RANK", "PMIX_RANK"}) {
    if (const auto rank = number_of(lookup, name)) return *rank;
  }
  return slurm_claim(lookup) ? number_of(lookup, "SLURM_PROCID").value_or(0) : 0;
}

void refuse_lonely_rank(int world_size, const std::string& mpi_library, const EnvironmentLookup& lookup) {
  if (world_size != 1) return;
  const auto claim = launcher_claim(lookup);
  if (!claim || claim->ranks <= 1) return;
  fail(ExitCode::configuration,
       fmt::format(
           "this process is alone (MPI world size 1), but its launcher announces at least {} ranks ({}): the "
           "launcher does not belong to the MPI that this program was built with, which is {}. Start it with "
           "that MPI's own mpirun, or give srun the plug-in that it understands (srun --mpi=pmix; srun "
           "--mpi=list shows what there is). To run a single process on purpose, unset the variable",
           claim->ranks, claim->variable, mpi_library));
}

}  // namespace charter
