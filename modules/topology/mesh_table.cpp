// SPDX-License-Identifier: Apache-2.0
#include "modules/topology/mesh_table.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace charter {
namespace {

constexpr int most_rank_lines = 32;
constexpr int most_node_lines = 16;

std::string threads_text(int threads) {
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

std::string rank_line(const MeshShape& shape, const NodeLayout& layout, int rank) {
  const MeshCoordinates at = shape.coordinates_of(rank);
  const RankPlace& place = layout.places[static_cast<std::size_t>(rank)];
  return fmt::format(
      "  rank {:>3}  pp {:>2}  dp {:>3}  cp {:>2}  tp {:>2}  {} (local rank {}, cores {}, {}{}{})\n", rank,
      at.pipeline, at.data, at.context, at.tensor, layout.host_of(rank), place.local_rank, place.cores,
      threads_text(place.threads), place.device.empty() ? "" : ", ", place.device);
}

// "3" or "0-7"; a node's coordinates need not be all those between.
std::string range_text(int low, int high) {
  return low == high ? fmt::format("{}", low) : fmt::format("{}-{}", low, high);
}

std::string node_line(const MeshShape& shape, const NodeLayout& layout, int node) {
  std::vector<int> ranks;
  int threads = 1;
  for (int rank = 0; rank < shape.size(); ++rank) {
    const RankPlace& place = layout.places[static_cast<std::size_t>(rank)];
    if (place.node != node) continue;
    ranks.push_back(rank);
    threads = ranks.size() == 1 ? place.threads : std::min(threads, place.threads);
  }
  std::string text = fmt::format("  {}: {} ranks, {}", layout.hosts[static_cast<std::size_t>(node)],
                                 ranks.size(), range_text(ranks.front(), ranks.back()));
  for (const Axis axis : all_axes) {
    int low = shape.degree(axis);
    int high = 0;
    for (const int rank : ranks) {
      const int at = shape.coordinates_of(rank).of(axis);
      low = std::min(low, at);
      high = std::max(high, at);
    }
    text += fmt::format("  {} {}", short_name(axis), range_text(low, high));
  }
  return text + fmt::format("  ({} cores, {} each)\n", layout.cores_on_node[static_cast<std::size_t>(node)],
                            threads_text(threads));
}

// Tensor groups with ranks on more than one node.
int scattered_tensor_groups(const MeshShape& shape, const NodeLayout& layout) {
  std::set<int> scattered;
  for (int rank = 0; rank < shape.size(); ++rank) {
    const int first =
        rank - shape.index_in_group(rank, Axis::tensor);  // tensor is innermost: groups are contiguous
    if (layout.places[static_cast<std::size_t>(rank)].node !=
        layout.places[static_cast<std::size_t>(first)].node) {
      scattered.insert(first);
    }
  }
  return static_cast<int>(scattered.size());
}

}  // namespace

std::string mesh_table(const MeshShape& shape, const NodeLayout& layout) {
  std::string text = fmt::format("mesh: {} on {} node{}\n", shape.summary(), layout.num_nodes(),
                                 layout.num_nodes() == 1 ? "" : "s");
  if (shape.size() <= most_rank_lines) {
    for (int rank = 0; rank < shape.size(); ++rank) text += rank_line(shape, layout, rank);
  } else {
    const int hidden = std::max(0, layout.num_nodes() - most_node_lines);
    const int before = hidden > 0 ? most_node_lines - 1 : layout.num_nodes();
    for (int node = 0; node < before; ++node) text += node_line(shape, layout, node);
    if (hidden > 0) {
      text += fmt::format("  ... {} more nodes ...\n", hidden);
      text += node_line(shape, layout, layout.num_nodes() - 1);
    }
  }
  if (const int scattered = scattered_tensor_groups(shape, layout); scattered > 0) {
    text += fmt::format(
        "  note: {} of {} tensor groups span several nodes, which is slow; choose --tp to divide the "
        "ranks of a node\n",
        scattered, shape.group_count(Axis::tensor));
  }
  return text;
}

std::string crowding_warning(const NodeLayout& layout) {
  int crowded = 0;
  std::size_t worst = 0;
  for (std::size_t node = 0; node < layout.hosts.size(); ++node) {
    const int excess = layout.ranks_on_node[node] - layout.cores_on_node[node];
    if (excess <= 0) continue;
    if (crowded == 0 || excess > layout.ranks_on_node[worst] - layout.cores_on_node[worst]) worst = node;
    ++crowded;
  }
  if (crowded == 0) return "";
  const int cores = layout.cores_on_node[worst];
  return fmt::format(
      "{} of {} nodes ha{} more ranks than cores for them ({}: {} ranks on {} core{}), so ranks wait for "
      "each "
      "other's turn: start at most one rank a core (srun --ntasks-per-node={}, mpirun --map-by ppr:{}:node), "
      "or let ranks use more cores (srun --cpu-bind=cores, mpirun --bind-to core, the job's own limits)",
      crowded, layout.num_nodes(), crowded == 1 ? "s" : "ve", layout.hosts[worst],
      layout.ranks_on_node[worst], cores, cores == 1 ? "" : "s", cores, cores);
}

}  // namespace charter
