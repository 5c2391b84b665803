// SPDX-License-Identifier: Apache-2.0
#include "modules/training/machine_introduction.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/topology/mesh_table.hpp"
#include "src/base/log.hpp"
#include "src/blas/gemm.hpp"
#include "src/blas/rate_check.hpp"
#include "src/kernels/attention.hpp"
#include "src/report/process_memory.hpp"
#include "src/tensor/compute_session.hpp"

namespace charter {
namespace {

// One rank with a library or a core of its own trouble slows all of them: it is named.
void report_rates(const Communicator& world, const NodeLayout& layout, const blas::RateCheck& mine) {
  std::vector<double> rates(static_cast<std::size_t>(world.size()));
  world.all_gather(one(mine.library_gflops), rates);
  const std::vector<std::string> troubles = all_gather_text(world, mine.sane ? "" : mine.message);
  if (mine.sane) log_info(mine.message);
  const auto trouble = std::ranges::find_if(troubles, [](const std::string& text) { return !text.empty(); });
  if (trouble != troubles.end()) {
    log_warning(fmt::format("rank {}: {}", trouble - troubles.begin(), *trouble));
  }
  if (world.size() == 1) return;
  const auto slowest = static_cast<std::size_t>(std::ranges::min_element(rates) - rates.begin());
  const double least = rates[slowest];
  const auto node = static_cast<std::size_t>(layout.places[slowest].node);
  std::ranges::sort(rates);
  const double median = rates[rates.size() / 2];
  const std::string text = fmt::format("over the ranks: median {:.0f} GFLOP/s, least {:.0f} (rank {} on {})",
                                       median, least, slowest, layout.hosts[node]);
  constexpr double slow = 0.5;
  if (least < slow * median) {
    log_warning(text + ", which slows down all of them; look at its binding and at what else runs there");
  } else {
    log_info(text);
  }
}

}  // namespace

double introduce_machine(const Session& session, const MeshShape& shape, const NodeLayout& layout,
                         int threads) {
  const int own = layout.places[static_cast<std::size_t>(session.world().rank())].threads;
  blas::set_threads(threads > 0 ? threads : own);
  log_info(mesh_table(shape, layout));
  if (const std::string crowding = crowding_warning(layout); !crowding.empty()) log_warning(crowding);
  log_info(fmt::format("{}; {}; {}; {}; {} of matrix products in each rank", session.library(),
                       ComputeSession::description(), blas::backend_description(),
                       kernels::attention_implementation_name(),
                       blas::threads() == 1 ? "1 thread" : fmt::format("{} threads", blas::threads())));
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const blas::RateCheck rate = blas::check_product_rate(queue);
  report_rates(session.world(), layout, rate);
  return rate.library_gflops;
}

std::int64_t pool_limit(const ByteSize& memory_limit, const NodeLayout& layout, int rank) {
  if (memory_limit.bytes > 0) return memory_limit.bytes;
  const int node = layout.places[static_cast<std::size_t>(rank)].node;
  return host_memory_limit() / layout.ranks_on_node[static_cast<std::size_t>(node)];
}

}  // namespace charter
