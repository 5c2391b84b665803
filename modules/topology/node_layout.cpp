// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/node_layout.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "src/base/host_name.hpp"

namespace charter {
namespace {

constexpr int max_cores = 16384;

// The lowest hardware thread of the core that `cpu` belongs to; `cpu` itself where the system does not tell.
int core_of(int cpu) {
  const auto path = fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu);
  // "0,64" or "0-1": the first number is the lowest.
  std::ifstream file(path);
  int first = 0;
  return file >> first ? first : cpu;
}

// Collective. Every rank's list, in rank order.
template <CommElement T>
std::vector<std::vector<T>> gather_lists(const Communicator& group, const std::vector<T>& mine) {
  const auto count = static_cast<std::int64_t>(mine.size());
  std::vector<std::int64_t> counts(static_cast<std::size_t>(group.size()));
  group.all_gather(std::span(&count, 1), counts);
  std::vector<T> all(
      static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), std::int64_t{0})));
  group.all_gather_v(mine, all, counts);
  std::vector<std::vector<T>> lists;
  auto next = all.begin();
  for (const std::int64_t length : counts) {
    lists.emplace_back(next, next + length);
    next += length;
  }
  return lists;
}

// Collective. Every rank's quotas, in rank order.
std::vector<std::vector<CpuQuota>> gather_quotas(const Communicator& group,
                                                 const std::filesystem::path& system_root) {
  std::vector<double> cores;
  std::vector<std::uint64_t> groups;
  for (const CpuQuota& quota : cpu_quotas(system_root)) {
    cores.push_back(quota.cores);
    groups.push_back(quota.group);
  }
  const auto cores_of_rank = gather_lists(group, cores);
  const auto groups_of_rank = gather_lists(group, groups);
  std::vector<std::vector<CpuQuota>> quotas(cores_of_rank.size());
  for (std::size_t rank = 0; rank < quotas.size(); ++rank) {
    for (std::size_t i = 0; i < cores_of_rank[rank].size(); ++i) {
      quotas[rank].push_back({cores_of_rank[rank][i], groups_of_rank[rank][i]});
    }
  }
  return quotas;
}

}  // namespace

std::vector<int> available_cores() {
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(max_cores),
                                                             [](cpu_set_t* freed) { CPU_FREE(freed); });
  const std::size_t bytes = CPU_ALLOC_SIZE(max_cores);
  CPU_ZERO_S(bytes, set.get());
  if (::sched_getaffinity(0, bytes, set.get()) != 0) return {0};
  std::vector<int> cores;
  for (int cpu = 0; cpu < max_cores; ++cpu) {
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), bytes, set.get())) cores.push_back(core_of(cpu));
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

std::string index_ranges(std::span<const int> ascending) {
  std::string text;
  for (std::size_t first = 0; first < ascending.size();) {
    std::size_t last = first;
    const int stride = first + 1 < ascending.size() ? ascending[first + 1] - ascending[first] : 1;
    while (last + 1 < ascending.size() && ascending[last + 1] - ascending[last] == stride) ++last;
    // Two numbers with a gap between them are no pattern yet.
    if (stride > 1 && last - first < 2) last = first;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ascending[first]);
    if (last > first) text += fmt::format("-{}", ascending[last]);
    if (last > first && stride > 1) text += fmt::format(":{}", stride);
    first = last + 1;
  }
  return text;
}

std::vector<int> threads_per_rank(std::span<const std::vector<int>> cores_of_rank,
                                  std::span<const std::vector<CpuQuota>> quotas_of_rank) {
  std::map<int, int> ranks_on_core;
  for (const std::vector<int>& cores : cores_of_rank) {
    for (const int core : cores) ++ranks_on_core[core];
  }
  std::map<std::uint64_t, int> ranks_under_quota;
  for (const std::vector<CpuQuota>& quotas : quotas_of_rank) {
    for (const CpuQuota& quota : quotas) ++ranks_under_quota[quota.group];
  }
  std::vector<int> threads;
  for (std::size_t rank = 0; rank < cores_of_rank.size(); ++rank) {
    double share = 0.0;
    for (const int core : cores_of_rank[rank]) share += 1.0 / ranks_on_core[core];
    for (const CpuQuota& quota : quotas_of_rank[rank]) {
      share = std::min(share, std::ceil(quota.cores) / ranks_under_quota[quota.group]);
    }
    // Thirds do not add up to one exactly.
    threads.push_back(std::max(1, static_cast<int>(share + 1e-6)));
  }
  return threads;
}

const std::string& NodeLayout::host_of(int rank) const {
  return hosts[static_cast<std::size_t>(places[static_cast<std::size_t>(rank)].node)];
}

std::vector<std::string> NodeLayout::host_of_each_rank() const {
  std::vector<std::string> all;
  for (std::size_t rank = 0; rank < places.size(); ++rank) all.push_back(host_of(static_cast<int>(rank)));
  return all;
}

NodeLayout find_node_layout(const Communicator& world, const std::string& device,
                            const std::filesystem::path& system_root) {
  NodeLayout layout;
  const auto size = static_cast<std::size_t>(world.size());
  if (world.planned()) {
    // A plan does not know the machine: one node with one thread a rank.
    layout.hosts = {"planned"};
    layout.ranks_on_node = {world.size()};
    layout.cores_on_node = {world.size()};
    for (int rank = 0; rank < world.size(); ++rank) layout.places.push_back({0, rank, 1, "", ""});
    return layout;
  }
  const Communicator node = world.split_shared_memory("node");
  const std::vector<std::vector<int>> cores = gather_lists(node, available_cores());
  const std::vector<int> threads = threads_per_rank(cores, gather_quotas(node, system_root));
  std::set<int> union_of_cores;
  for (const std::vector<int>& own : cores) union_of_cores.insert(own.begin(), own.end());
  const auto local_rank = static_cast<std::size_t>(node.rank());
  int leader = world.rank();
  node.broadcast(one(leader), 0);
  const std::array<int, 4> mine = {leader, node.rank(), threads[local_rank],
                                   static_cast<int>(union_of_cores.size())};
  std::vector<int> all(4 * size);
  world.all_gather(mine, all);
  const std::vector<std::string> hosts = all_gather_text(world, host_name());
  const std::vector<std::string> ranges = all_gather_text(world, index_ranges(cores[local_rank]));
  const std::vector<std::string> devices = all_gather_text(world, device);
  std::map<int, int> node_of_leader;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const auto [found, is_new] = node_of_leader.try_emplace(all[4 * rank], layout.num_nodes());
    if (is_new) {
      layout.hosts.push_back(hosts[rank]);
      layout.ranks_on_node.push_back(0);
      layout.cores_on_node.push_back(all[4 * rank + 3]);
    }
    layout.places.push_back(
        {found->second, all[4 * rank + 1], all[4 * rank + 2], ranges[rank], devices[rank]});
    ++layout.ranks_on_node[static_cast<std::size_t>(found->second)];
  }
  return layout;
}

}  // namespace charter
