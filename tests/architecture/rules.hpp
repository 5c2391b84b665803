// SPDX-License-Identifier: Apache-2.0
// The rules that keep the tree's architecture, each a pure function from source texts to findings. What a
// rule allows stands in a table at its place in rules.cpp.
#pragma once

#include <string>
#include <vector>

#include "tests/architecture/source_text.hpp"

namespace charter::architecture {

struct Finding {
  std::string file;
  int line = 0;
  std::string what;
  // "src/base/error.hpp:12: what"
  std::string text() const;
};

using Findings = std::vector<Finding>;

// apps -> modules -> src, never back; the order of the folders in modules; src/base includes nothing of ours.
Findings check_include_direction(const std::vector<SourceText>& tree);
// No two folders of src or of modules may need each other, over any number of steps.
Findings check_folder_cycles(const std::vector<SourceText>& tree);
// Each outside library behind its own folder: mpi.h, nccl.h, hdf5.h, BLAS headers, Kokkos,
// Boost.Program_options.
Findings check_outside_headers(const std::vector<SourceText>& tree);
// exit, abort and MPI_Abort in modules/comm and apps/support only (tests may end their children).
Findings check_process_ends(const std::vector<SourceText>& tree);
// SPDX first line, #pragma once, at most 600 lines (tests: 500), no TODO or FIXME without an issue ("#12").
Findings check_file_form(const std::vector<SourceText>& tree);
// A header of modules/ that takes a communicator says of its functions whether they are Collective or Local.
Findings check_collective_comments(const std::vector<SourceText>& tree);

}  // namespace charter::architecture
