// SPDX-License-Identifier: Apache-2.0
// Which ranks share a node, what each is bound to, and how many threads it may use. Nodes are found by MPI's
// shared-memory split, not by comparing host names; cores are those the process may run on
// (sched_getaffinity), hardware threads of one core counted once, and no more of them are used than the
// control groups allow (cpu_quota.hpp).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "modules/comm/communicator.hpp"
#include "modules/topology/cpu_quota.hpp"

namespace charter {

struct RankPlace {
  int node = 0;        // nodes are numbered by their lowest rank
  int local_rank = 0;  // place among the ranks of the node
  int threads = 1;     // cores it may use / ranks on them, within its quota, at least 1
  std::string cores;   // "0-3"; empty in a plan
  std::string device;  // empty on a CPU
};

struct NodeLayout {
  std::vector<RankPlace> places;   // by world rank
  std::vector<std::string> hosts;  // by node
  std::vector<int> ranks_on_node;  // by node
  std::vector<int> cores_on_node;  // by node: cores that any of its ranks may use

  int num_nodes() const { return static_cast<int>(hosts.size()); }
  const std::string& host_of(int rank) const;
  std::vector<std::string> host_of_each_rank() const;
};

// Collective over `world`. Local for a planned or single-rank one. `device` names this rank's own;
// `system_root`: as of cpu_quotas().
NodeLayout find_node_layout(const Communicator& world, const std::string& device = {},
                            const std::filesystem::path& system_root = "/");

// Local. Core numbers this process may run on, ascending.
std::vector<int> available_cores();

// Ascending numbers as ranges, the way taskset writes them: "0-3,8", and "0-14:2" for every second one. Pure.
std::string index_ranges(std::span<const int> ascending);

// Threads of each rank of a node from the cores each may use: a core shared by n ranks counts 1/n; rounded
// down, at least 1. Each quota of a rank, rounded up to whole cores and divided by the ranks under it, is a
// limit of its own. Pure.
std::vector<int> threads_per_rank(std::span<const std::vector<int>> cores_of_rank,
                                  std::span<const std::vector<CpuQuota>> quotas_of_rank);

}  // namespace charter
