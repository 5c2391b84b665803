// SPDX-License-Identifier: Apache-2.0
#include "modules/training/fine_tuning.hpp"

#include <memory>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/comm/signals.hpp"
#include "modules/topology/mesh_table.hpp"
#include "modules/topology/node_layout.hpp"
#include "modules/training/dry_run.hpp"
#include "modules/training/run_folder.hpp"
#include "modules/training/training_checkpoint.hpp"
#include "modules/training/training_loop.hpp"
#include "src/base/log.hpp"
#include "src/blas/gemm.hpp"
#include "src/blas/rate_check.hpp"
#include "src/kernels/attention.hpp"
#include "src/report/format_units.hpp"
#include "src/tensor/compute_session.hpp"

namespace charter {
namespace {

// Ranks, threads, libraries: said once at the start. Returns the measured rate of matrix products.
double introduce_machine(const Session& session, const TrainingOptions& options, const MeshShape& shape) {
  const NodeLayout layout = find_node_layout(session.world());
  const int own = layout.places[static_cast<std::size_t>(session.world().rank())].threads;
  blas::set_threads(options.threads > 0 ? options.threads : own);
  log_info(mesh_table(shape, layout));
  log_info(fmt::format("{}; {}; {}; {}; {} of matrix products in each rank", session.library(),
                       ComputeSession::description(), blas::backend_description(),
                       kernels::attention_implementation_name(),
                       blas::threads() == 1 ? "1 thread" : fmt::format("{} threads", blas::threads())));
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, Arithmetic::fast);
  const blas::RateCheck rate = blas::check_product_rate(queue);
  if (rate.sane) {
    log_info(rate.message);
  } else {
    log_warning(rate.message);
  }
  return rate.library_gflops;
}

// A model with its optimizer, on this rank's device.
struct Trained {
  Trained(ExecutionQueue& queue, const std::string& config_json, const OptimizerSettings& settings)
      : model(queue, ModelConfig::from_json(config_json, "config.json")),
        optimizer(queue, model.list, settings) {}
  ModelState<float> model;
  Optimizer<float> optimizer;
};

// Everything a start gives: the model, its files, and how far the run is.
struct Start {
  std::unique_ptr<Trained> trained;
  ModelFiles files;
  RunProgress progress;
};

ModelFiles files_of_checkpoint(const Communicator& world, const CheckpointReader& reader) {
  const std::string bundle = agree_on_text(world, "reading the checkpoint's text files", [&] {
    std::map<std::string, std::string> files;
    for (const char* name :
         {"config.json", "tokenizer.json", "tokenizer_config.json", "generation_config.json"}) {
      if (reader.has_file(name)) files[name] = reader.file(name);
    }
    return Json(files).dump();
  });
  return {Json::parse(bundle).get<std::map<std::string, std::string>>()};
}

Start start_from(const Communicator& world, ExecutionQueue& queue, const TrainingOptions& options,
                 const CheckpointReader& reader) {
  Start start;
  start.progress = RunProgress::from_json(reader.training_state(), reader.folder().string());
  start.files = files_of_checkpoint(world, reader);
  start.trained = std::make_unique<Trained>(queue, start.files.config_json(), options.optimizer);
  load_training_tensors<float>(queue, world, reader, start.trained->model, start.trained->optimizer);
  start.trained->optimizer.set_applied_steps(start.progress.applied_steps);
  log_info(fmt::format("going on from {}: step {}, {} samples, {} tokens", reader.folder().string(),
                       start.progress.step, start.progress.cursor,
                       format_count(static_cast<double>(start.progress.input_tokens))));
  return start;
}

Start start_afresh(const Communicator& world, ExecutionQueue& queue, const TrainingOptions& options) {
  const OpenedModel opened = open_model_on_rank_0(world, options.model, options.random_start);
  Start start;
  start.files = opened.files;
  start.trained = std::make_unique<Trained>(queue, start.files.config_json(), options.optimizer);
  start_weights(queue, world, opened, options.seed, start.trained->model);
  return start;
}

// A run that reached its end, started again with the same end, has nothing to do: found before any tensor is
// read.
bool is_finished(const TrainingOptions& options, const RunProgress& progress) {
  return progress.finished && (!options.max_steps || progress.step >= *options.max_steps) && !options.epochs;
}

void introduce_run(const Start& start, const TrainingOptions& options, const TrainingData& data) {
  const ModelConfig& config = start.trained->model.config;
  log_info(fmt::format("model: {}, {} layers, width {}, {} parameters, {}", to_string(config.architecture),
                       config.layers, config.hidden,
                       format_count(static_cast<double>(start.trained->model.list.num_elements())),
                       options.verify ? "order-fixed arithmetic (--verify)" : "fast arithmetic"));
  log_info(fmt::format("data: {}; {} samples to train on, {} held out; {} steps", describe(data.statistics),
                       data.split.training_size(), data.split.validation_size(), data.total_steps));
  if (options.data_weight.empty()) return;
  for (std::size_t file = 0; file < options.data.size(); ++file) {
    log_info(fmt::format("data: {}: {} samples, weight {}: {} in an epoch", options.data[file].string(),
                         data.samples_by_file[file], options.data_weight[file],
                         data.order.mixture().epoch_size_of(file)));
  }
}

// A run goes on with the samples it began with: a cache made anew from changed files is not that.
void check_same_data(RunProgress& progress, const SampleStore& store, const TrainingOptions& options) {
  const std::string now = store.fingerprint().hex();
  if (progress.step > 0 && progress.data_fingerprint != now) {
    fail(
        ExitCode::bad_input,
        fmt::format("{}{}: is not the data that this run began with: its samples have fingerprint {}, those "
                    "of the checkpoint {}. Restore the file, or start another run folder from the checkpoint "
                    "with --model",
                    options.data.front().string(), options.data.size() > 1 ? " or another --data file" : "",
                    now, progress.data_fingerprint));
  }
  progress.data_fingerprint = now;
}

ExitCode train(Session& session, const TrainingOptions& options, const Mesh& mesh, bool has_checkpoints,
               double gflops) {
  const Communicator& world = session.world();
  CheckpointOptions keeping;
  keeping.keep = options.keep;
  keeping.writers = std::min(options.checkpoint_writers, world.size());
  keeping.job_id = session.job_token();
  CheckpointStore checkpoints(world, options.run_dir, keeping);

  const ProcessMemory memory_at_start = process_memory();
  MemoryPool pool(MemoryPool::Mode::run);
  ExecutionQueue queue(pool, options.verify ? Arithmetic::order_fixed : Arithmetic::fast);
  std::optional<Start> start;
  std::optional<std::int64_t> restarted;
  bool finished = false;
  if (has_checkpoints) {
    restarted = checkpoints.restore([&](const CheckpointReader& reader) {
      const RunProgress progress = RunProgress::from_json(reader.training_state(), reader.folder().string());
      finished = is_finished(options, progress);
      start.reset();
      if (!finished) start.emplace(start_from(world, queue, options, reader));
    });
  } else if (options.resume != "auto" && options.resume != "never") {
    const CheckpointReader reader =
        together(world, "opening --resume", [&] { return read_checkpoint_folder(options.resume); });
    start.emplace(start_from(world, queue, options, reader));
  }
  if (finished) {
    log_info("this run has reached its end; raise --max-steps to train on");
    return ExitCode::done;
  }
  if (!start) start.emplace(start_afresh(world, queue, options));
  checkpoints.begin_run(restarted);

  const ModelConfig& config = start->trained->model.config;
  const TrainingData data =
      open_training_data(world, options, config, start->files, options.run_dir / "cache" / "train.cache");
  check_same_data(start->progress, data.store, options);
  introduce_run(*start, options, data);
  const TrainingParts parts{
      options,      mesh,        queue,  start->trained->model, start->trained->optimizer, data,
      start->files, checkpoints, gflops, memory_at_start};
  TrainingLoop loop(parts, start->progress);
  const ExitCode code = loop.run();
  checkpoints.end_run();
  return code;
}

}  // namespace

ExitCode run_fine_tuning(Session& session, const OptionSet& set, const TrainingOptions& options) {
  MeshDegrees degrees;
  degrees.data = options.dp;
  if (options.dry_run) return plan_fine_tuning(session.world(), set, options);
  const MeshShape shape(degrees, session.world().size());
  const Mesh mesh(session.world(), shape);
  const double gflops = introduce_machine(session, options, shape);
  install_signal_handlers();
  const RunFolder folder(session.world(), set, options);
  session.start_watchdog(
      std::chrono::milliseconds(static_cast<std::int64_t>(options.hang_timeout.seconds * 1000)),
      options.run_dir);
  return train(session, options, mesh, folder.has_checkpoints(), gflops);
}

}  // namespace charter
