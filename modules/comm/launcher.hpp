// SPDX-License-Identifier: Apache-2.0
// What the launcher's environment says about the ranks. A program built with one MPI and started by
// the launcher of another becomes N lonely processes that would all train the same and overwrite each other;
// this finds it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace charter {

struct LauncherClaim {
  std::string variable;  // "OMPI_COMM_WORLD_SIZE=4"
  long ranks = 1;        // at least so many
};

// Returns nullptr for a variable that is not set; std::getenv in a run.
using EnvironmentLookup = std::function<const char*(const char*)>;

// Local. The claim of the innermost launcher found: Open MPI, PMI (MPICH, Cray PALS), PALS, PMIx, Flux,
// jsrun, Slurm (in a step of srun, not in the batch script or an interactive shell). Nothing without a
// launcher.
std::optional<LauncherClaim> launcher_claim(const EnvironmentLookup& lookup);

// Local. This process's rank in its launch, by the same launchers, without MPI; 0 without a launcher. For
// what every rank of a launch would say and one is to say.
long rank_in_launch(const EnvironmentLookup& lookup);

// Local. Throws Error(configuration) with the cure when this process is alone and a claim says more than one.
void refuse_lonely_rank(int world_size, const std::string& mpi_library, const EnvironmentLookup& lookup);

}  // namespace charter
