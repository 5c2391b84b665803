// SPDX-License-Identifier: Apache-2.0
// The training step of a SmolLM2-135M on one core against the rate that the same library reaches on a
// 2048-cube in the same run. Counts 2MNK of all products, forward and backward, attention at the visible
// half; the time includes everything, the optimizer too. Usage: train_step_rate [fast|verify] [tokens]
#include <chrono>
#include <cstdio>
#include <string>
#include <string_view>

#include "bench/smollm2_shape.hpp"
#include "modules/training/step_executor.hpp"
#include "src/blas/gemm.hpp"
#include "src/blas/rate_check.hpp"
#include "src/model/initialization.hpp"
#include "src/report/process_memory.hpp"
#include "src/tensor/compute_session.hpp"

namespace {

using namespace charter;

constexpr std::int64_t length = 512;

SampleStore documents(std::int64_t count, std::int64_t vocabulary) {
  std::vector<Sample> samples(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    for (std::int64_t t = 0; t <= length; ++t) {
      samples[i].ids.push_back(
          static_cast<TokenId>((static_cast<std::int64_t>(i) * 7919 + t * 104729) % vocabulary));
      samples[i].loss_mask.push_back(t > 0 ? 1 : 0);
    }
  }
  return SampleStore::of(samples);
}

double seconds(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  const bool verify = argc > 1 && std::string_view(argv[1]) == "verify";
  const std::int64_t tokens = argc > 2 ? std::stoll(argv[2]) : 4096;
  const ComputeSession compute;
  blas::set_threads(1);
  const ProcessMemory start = process_memory();
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, verify ? Arithmetic::order_fixed : Arithmetic::fast);
  ModelState<float> model(queue, ModelConfig::from_json(bench::smollm2_config, "smollm2"));
  fill_parameters<float>(queue, model.weights, Pieces::all,
                         [&](ParameterId id, std::int64_t first, std::span<float> out) {
                           draw_initial(model.list.spec(id), 1, first, out);
                         });
  Optimizer<float> optimizer(queue, model.list, {});
  const Mesh alone(Communicator::self("bench"), MeshShape());
  StepExecutor<float> executor(queue, model, optimizer, alone, {});
  const SampleStore store = documents(tokens / length, model.config.vocabulary);
  const DataOrder order(store, DataSplit(store.size(), 0, 1), 1);
  const auto step = [&](std::int64_t count) {
    const GlobalBatch batch = order.batch(0, {count, BatchSize::Unit::sequences}, count);
    StepSettings settings;
    settings.learning_rate = 1e-4;
    return executor.step(store, batch, plan_step(batch.input_tokens, batch.loss_tokens, {1, 2, length, true}),
                         settings);
  };
  step(2);  // first touch of the memory

  // The rate of products is measured before and after, as the machine may change its mind.
  double square = 0;
  {
    MemoryPool square_pool(MemoryPool::Mode::run);
    ExecutionQueue square_queue(square_pool, Arithmetic::fast);
    square = blas::measure_square_rate(square_queue, 2048);
    StepResult result;
    const double step_s = seconds([&] { result = step(tokens / length); });
    square = (square + blas::measure_square_rate(square_queue, 2048)) / 2;
    const double n = static_cast<double>(length);
    const double flops = 3 * static_cast<double>(tokens) *
                         (model.config.forward_flops_per_token() + model.config.attention_flops((n + 1) / 2));
    const double rate = flops / step_s / 1e9;
    std::printf(
        "%s arithmetic, %lld tokens: step %.2f s (forward %.2f, backward %.2f, update %.2f), %.1f GFLOP/s\n",
        verify ? "order-fixed" : "fast", static_cast<long long>(tokens), step_s, result.times.forward_s,
        result.times.backward_s, result.times.update_s, rate);
    std::printf("2048-cube: %.1f GFLOP/s; ratio %.3f\n", square, rate / square);
  }
  const ProcessMemory now = process_memory();
  const double mega = 1e6;
  const auto parameters = static_cast<double>(model.list.num_elements());
  std::printf(
      "memory: pool peak %.0f MB (held %.0f), outside %.0f MB, process peak without file mappings %.0f MB; "
      "16 bytes a parameter are %.0f MB\n",
      static_cast<double>(pool.use(Space::device).peak_bytes) / mega,
      static_cast<double>(pool.use(Space::device).extent_bytes) / mega,
      static_cast<double>(external_bytes(start, now)) / mega,
      static_cast<double>(now.peak_resident - now.file_mapped) / mega, 16 * parameters / mega);
  return 0;
}
