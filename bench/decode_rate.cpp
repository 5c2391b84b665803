// SPDX-License-Identifier: Apache-2.0
// Greedy decoding of a SmolLM2-135M at batch 1 against the memory's read rate in the same run: each token
// reads every weight once, so tokens/s is at most (read rate) / (bytes of weights). Usage: decode_rate
// [threads]
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "bench/smollm2_shape.hpp"
#include "src/base/steady_time.hpp"
#include "src/blas/gemm.hpp"
#include "src/model/initialization.hpp"
#include "src/model/model_state.hpp"
#include "src/model/sequence_decoder.hpp"
#include "src/tensor/compute_session.hpp"

namespace {

using namespace charter;

// Bytes per second at which `threads` threads together sum a large array.
double read_rate(const std::vector<float>& values, int threads) {
  double best = 0;
  for (int round = 0; round < 5; ++round) {
    std::vector<float> sums(static_cast<std::size_t>(threads) * 64, 0.0F);
    std::vector<std::thread> workers;
    const double start = steady_now_s();
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&, t] {
        const std::size_t share = values.size() / static_cast<std::size_t>(threads) / 64 * 64;
        const float* data = values.data() + share * static_cast<std::size_t>(t);
        float lanes[64] = {};
        for (std::size_t i = 0; i < share; i += 64) {
          for (std::size_t lane = 0; lane < 64; ++lane) lanes[lane] += data[i + lane];
        }
        std::copy_n(lanes, 64, sums.begin() + static_cast<std::ptrdiff_t>(t) * 64);
      });
    }
    for (std::thread& worker : workers) worker.join();
    best = std::max(best, static_cast<double>(values.size() * sizeof(float)) / (steady_now_s() - start));
    volatile float keep = sums[0];
    (void)keep;
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::stoi(argv[1]) : 1;
  const ComputeSession compute;
  blas::set_threads(threads);
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  ModelState<float> model(queue, ModelConfig::from_json(bench::smollm2_config, "smollm2"));
  fill_parameters<float>(queue, model.weights, Pieces::all,
                         [&](ParameterId id, std::int64_t first, std::span<float> out) {
                           draw_initial(model.list.spec(id), 1, first, out);
                         });
  SequenceDecoder<float> decoder(queue, model.config, model.stage, model.weights, 256);
  std::vector<float> logits = decoder.append({1, 2, 3, 4, 5, 6, 7, 8});
  const auto next = [&] {
    return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
  };
  for (int i = 0; i < 4; ++i) logits = decoder.append({next()});

  const std::vector<float> values(std::size_t{1} << 27, 1.0F);
  const double before = read_rate(values, threads);
  constexpr int tokens = 64;
  const double start = steady_now_s();
  for (int i = 0; i < tokens; ++i) logits = decoder.append({next()});
  const double tokens_per_s = tokens / (steady_now_s() - start);
  const double rate = (before + read_rate(values, threads)) / 2;
  const double bytes = static_cast<double>(model.list.num_elements()) * sizeof(float);
  std::printf(
      "decoding: %.1f tokens/s with %d threads; read rate %.1f GB/s, weights %.0f MB: at most %.1f; ratio "
      "%.3f\n",
      tokens_per_s, threads, rate / 1e9, bytes / 1e6, rate / bytes, tokens_per_s * bytes / rate);
  return 0;
}
