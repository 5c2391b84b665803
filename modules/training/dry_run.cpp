// SPDX-License-Identifier: Apache-2.0
#include "modules/training/dry_run.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "modules/checkpoint/checkpoint_store.hpp"
#include "modules/comm/agreement.hpp"
#include "modules/tensor_parallel/mesh_tensor_axis.hpp"
#include "modules/training/evaluator.hpp"
#include "modules/training/memory_report.hpp"
#include "modules/training/mesh_layout.hpp"
#include "modules/training/step_executor.hpp"
#include "src/base/scratch_folder.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

std::string checkpoint_text(const TrainingOptions& options, const ParameterList& list) {
  const int copies = options.optimizer.kind == OptimizerKind::adamw ? 3 : 1;
  const std::int64_t one =
      CheckpointStore::bytes_on_disk(copies * list.num_elements() * static_cast<std::int64_t>(sizeof(float)));
  // While a new checkpoint is written the kept ones and the best are still there.
  const std::int64_t peak = one * (options.keep + 2);
  std::filesystem::path folder = std::filesystem::absolute(options.run_dir);
  while (!std::filesystem::exists(folder) && folder.has_relative_path()) folder = folder.parent_path();
  std::error_code error;
  const std::filesystem::space_info space = std::filesystem::space(folder, error);
  return fmt::format("checkpoint: {} in {} parts; at most {} at once with --keep {}; free at {}: {}\n",
                     format_bytes(one), options.checkpoint_writers, format_bytes(peak), options.keep,
                     folder.string(),
                     error ? "unknown" : format_bytes(static_cast<std::int64_t>(space.available)));
}

}  // namespace

PoolUse plan_pool(const TrainingOptions& options, const ModelConfig& config, const TrainingData& data,
                  const Mesh& planned_mesh) {
  const int dp = planned_mesh.data_context().size();
  MemoryPool pool(MemoryPool::Mode::plan);
  ExecutionQueue queue(pool, options.verify ? Arithmetic::order_fixed : Arithmetic::fast);
  const MeshTensorAxis<float> tensor_axis(planned_mesh.tensor(), options.sequence_parallel);
  ModelState<float> model(queue, config, tensor_axis);
  Optimizer<float> optimizer(queue, model.list, options.optimizer);
  StepExecutor<float> executor(queue, model, optimizer, planned_mesh, {});
  const Evaluator<float> evaluator(queue, model, planned_mesh.data_context());
  const auto evaluate = [&] {
    const std::int64_t held_out = data.split.validation_size();
    if (options.eval_every == 0 || held_out == 0) return;
    const GlobalBatch batch = data.order.validation_batch(
        0, options.eval_samples > 0 ? std::min(options.eval_samples, held_out) : held_out);
    evaluator.total(data.store, batch, plan_of(batch, options, dp));
  };
  evaluate();
  std::int64_t cursor = 0;
  for (std::int64_t step = 0; step < data.total_steps && cursor < data.end_cursor; ++step) {
    const GlobalBatch batch = data.batch_at(cursor);
    executor.step(data.store, batch, plan_of(batch, options, dp), {});
    cursor = batch.next_cursor;
    if (options.eval_every > 0 && (step + 1) % options.eval_every == 0) evaluate();
  }
  evaluate();
  return pool.use(Space::device);
}

ExitCode plan_fine_tuning(const Communicator& world, const OptionSet& set, const TrainingOptions& options) {
  together(world, "planning", [&] {
    if (world.rank() != 0) return;
    const Communicator alone = Communicator::self("plan");
    const OpenedModel opened = open_model_on_rank_0(alone, options.model, options.random_start);
    const ModelConfig config = ModelConfig::from_json(opened.files.config_json(), "config.json");
    const ScratchFolder folder("plan");
    const TrainingData data = open_training_data(alone, options, config, opened.files,
                                                 folder.path() / "train.cache", StaleCache::refuse);
    std::vector<PoolUse> uses;
    const MeshShape shape = planned_mesh(degrees_of(options), world.size(), config);
    for (int rank = 0; rank < shape.size(); ++rank)
      uses.push_back(plan_pool(options, config, data, Mesh::planned(shape, rank)));
    const ParameterList list = list_parameters(config);
    const std::string text = fmt::format(
        "{}\nmodel: {}, {} parameters\ndata: {}\nsteps: {}\nmesh: {}\n\n{}pool peak of rank 0: {} "
        "bytes\nOutside the pool come "
        "libraries, the heap and "
        "MPI's buffers: usually 0.1 to 0.3 GiB.\n{}",
        set.write_config_ini(), to_string(config.architecture),
        format_count(static_cast<double>(list.num_elements())), describe(data.statistics), data.total_steps,
        shape.summary(), pool_table(uses), uses.front().peak_bytes, checkpoint_text(options, list));
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
  });
  return ExitCode::done;
}

}  // namespace charter
