// SPDX-License-Identifier: Apache-2.0
#include "modules/training/fine_tuning.hpp"

#include <memory>

#include <fmt/format.h>

#include "modules/comm/agreement.hpp"
#include "modules/tensor_parallel/mesh_tensor_axis.hpp"
#include "modules/topology/node_layout.hpp"
#include "modules/training/dry_run.hpp"
#include "modules/training/machine_introduction.hpp"
#include "modules/training/mesh_layout.hpp"
#include "modules/training/run_folder.hpp"
#include "modules/training/start_clock.hpp"
#include "modules/training/training_checkpoint.hpp"
#include "modules/training/training_loop.hpp"
#include "src/base/log.hpp"
#include "src/report/format_units.hpp"
#include "src/tensor/compute_session.hpp"
#include "src/text/model_text.hpp"

namespace charter {
namespace {

// A model with its optimizer, on this rank's device.
struct Trained {
  Trained(ExecutionQueue& queue, const TensorAxis<float>& tensor_axis, const std::string& config_json,
          const OptimizerSettings& settings)
      : model(queue, ModelConfig::from_json(config_json, "config.json"), tensor_axis),
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

// What a model is made on.
struct Place {
  const Communicator& world;
  ExecutionQueue& queue;
  const TensorAxis<float>& tensor_axis;
};

// Where there is too little memory, there is on several ranks: one of them says so.
std::unique_ptr<Trained> make_trained(const Place& place, const ModelFiles& files,
                                      const TrainingOptions& options) {
  return together(place.world, "taking memory for the model", [&] {
    return std::make_unique<Trained>(place.queue, place.tensor_axis, files.config_json(), options.optimizer);
  });
}

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

Start start_from(const Place& place, const TrainingOptions& options, const CheckpointReader& reader) {
  Start start;
  start.progress = RunProgress::from_json(reader.training_state(), reader.folder().string());
  start.files = files_of_checkpoint(place.world, reader);
  together(place.world, "looking at the checkpoint's model", [&] {
    require_model_tensors(reader, ModelConfig::from_json(start.files.config_json(), "config.json"));
  });
  start.trained = make_trained(place, start.files, options);
  load_training_tensors<float>(place.queue, place.world, reader, start.trained->model,
                               start.trained->optimizer);
  start.trained->optimizer.set_applied_steps(start.progress.applied_steps);
  log_info(fmt::format("going on from {}: step {}, {} samples, {} tokens", reader.folder().string(),
                       start.progress.step, start.progress.cursor,
                       format_count(static_cast<double>(start.progress.input_tokens))));
  return start;
}

Start start_afresh(const Place& place, const TrainingOptions& options, StartClock& clock) {
  const OpenedModel opened = open_model_on_rank_0(place.world, options.model, options.random_start);
  Start start;
  start.files = opened.files;
  start.files.files["tokenizer_config.json"] = agree_on_text(place.world, "choosing the chat template", [&] {
    return tokenizer_config_with_template(opened.files.text(), opened.files.config_json(),
                                          options.chat_template, "tokenizer.json");
  });
  clock.lap("opening the model");
  start.trained = make_trained(place, start.files, options);
  clock.lap("memory");
  start_weights(place.queue, place.world, opened, options.seed, start.trained->model);
  clock.lap("its weights");
  return start;
}

// A run that reached its end, started again with the same end, has nothing to do: found before any tensor is
// read. Where epochs are the end, the data tells (TrainingLoop).
bool is_finished(const TrainingOptions& options, const RunProgress& progress) {
  return progress.finished && options.max_steps && progress.step >= *options.max_steps;
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
void check_same_data(const Communicator& world, RunProgress& progress, const SampleStore& store,
                     const TrainingOptions& options) {
  const std::string now = store.fingerprint().hex();
  together(world, "comparing the data with the checkpoint's", [&] {
    if (progress.step == 0 || progress.data_fingerprint == now) return;
    fail(
        ExitCode::bad_input,
        fmt::format("{}{}: is not the data that this run began with: its samples have fingerprint {}, those "
                    "of the checkpoint {}. Restore the file, or start another run folder from the checkpoint "
                    "with --model",
                    options.data.front().string(), options.data.size() > 1 ? " or another --data file" : "",
                    now, progress.data_fingerprint));
  });
  progress.data_fingerprint = now;
}

std::string settings_of(const CheckpointReader& reader) {
  const Json& state = reader.training_state();
  if (!state.contains("settings") || !state["settings"].is_string()) {
    fail(ExitCode::bad_input,
         fmt::format("{}: holds no settings of a run; start from it with --model", reader.folder().string()));
  }
  return state["settings"].get<std::string>();
}

// Where a run stands, if it stands anywhere yet.
struct Found {
  std::optional<Start> start;             // none: finished, or to be started afresh
  std::optional<std::int64_t> restarted;  // the step of its own checkpoint
  bool finished = false;
};

// From the newest checkpoint of the run folder, else from --resume PATH.
Found find_start(const Place& place, const OptionSet& set, const TrainingOptions& options,
                 bool has_checkpoints, CheckpointStore& checkpoints) {
  Found found;
  if (has_checkpoints) {
    found.restarted = checkpoints.restore([&](const CheckpointReader& reader) {
      const RunProgress progress = RunProgress::from_json(reader.training_state(), reader.folder().string());
      found.finished = is_finished(options, progress);
      found.start.reset();
      if (!found.finished) found.start.emplace(start_from(place, options, reader));
    });
  } else if (options.resume != "auto" && options.resume != "never") {
    const CheckpointReader reader = together(place.world, "opening --resume", [&] {
      CheckpointReader opened = read_checkpoint_folder(options.resume);
      refuse_changed_settings(set, settings_of(opened), options.resume);
      return opened;
    });
    found.start.emplace(start_from(place, options, reader));
  }
  return found;
}

// An error that all ranks agreed on is an end by the run's own will: only a death counts as a restart.
ExitCode run_to_its_end(TrainingLoop& loop, CheckpointStore& checkpoints) {
  try {
    const ExitCode code = loop.run();
    checkpoints.end_run();
    return code;
  } catch (const AgreedError&) {
    try {
      checkpoints.end_run();
    } catch (const AgreedError& error) {
      log_error(error.what());  // a full disk, say; the first error is the one that counts
    }
    throw;
  }
}

// What the run's model will be, before it is opened: the newest checkpoint's, else what the options name.
std::string config_json_ahead(const TrainingOptions& options) {
  if (!CheckpointCatalogue(options.run_dir / checkpoints_folder).committed().empty())
    return config_json_of(options.run_dir, false);
  if (options.resume != "auto" && options.resume != "never") return config_json_of(options.resume, false);
  return config_json_of(options.model, options.random_start);
}

// What a run stands on besides its options.
struct Ground {
  const Mesh& mesh;
  bool has_checkpoints;
  double peak_gflops;
  std::int64_t pool_limit;
  StartClock& clock;
};

ExitCode train(Session& session, const OptionSet& set, const TrainingOptions& options, const Ground& ground) {
  const Communicator& world = session.world();
  CheckpointOptions keeping;
  keeping.keep = options.keep;
  keeping.writers = options.checkpoint_writers;
  keeping.job_id = session.job_token();
  CheckpointStore checkpoints(world, options.run_dir, keeping);

  const ProcessMemory memory_at_start = process_memory();
  MemoryPool pool(MemoryPool::Mode::run, ground.pool_limit);
  ExecutionQueue queue(pool, options.verify ? Arithmetic::order_fixed : Arithmetic::fast);
  const MeshTensorAxis<float> tensor_axis(ground.mesh.tensor(), options.sequence_parallel);
  const Place place{world, queue, tensor_axis};
  Found found = find_start(place, set, options, ground.has_checkpoints, checkpoints);
  if (found.finished) {
    log_info("this run has reached its end; raise --max-steps to train on");
    return ExitCode::done;
  }
  if (found.start) ground.clock.lap("the checkpoint");
  Start start = found.start ? std::move(*found.start) : start_afresh(place, options, ground.clock);
  const bool begins = start.progress.step == 0;
  const TrainingData data = open_training_data(world, options, start.trained->model.config, start.files,
                                               options.run_dir / "cache" / "train.cache",
                                               begins ? StaleCache::rebuild : StaleCache::refuse);
  check_same_data(world, start.progress, data.store, options);
  ground.clock.lap("the data");
  introduce_run(start, options, data);
  log_info(fmt::format("start: {}", ground.clock.text()));
  const std::string settings = set.write_config_ini();
  const TrainingParts parts{
      options,     ground.mesh, queue,       start.trained->model, start.trained->optimizer, data,
      start.files, settings,    checkpoints, ground.peak_gflops,   memory_at_start};
  TrainingLoop loop(parts, start.progress);
  checkpoints.begin_run(found.restarted);
  return run_to_its_end(loop, checkpoints);
}

}  // namespace

ExitCode run_fine_tuning(Session& session, const OptionSet& set, const TrainingOptions& options) {
  StartClock clock;
  if (options.dry_run) return plan_fine_tuning(session.world(), set, options);
  session.check_collectives(options.check_collectives);
  const Communicator& world = session.world();
  const MeshShape shape =
      lay_out_mesh(world, degrees_of(options), [&] { return config_json_ahead(options); });
  const Mesh mesh(world, shape);
  const NodeLayout layout = find_node_layout(world, ComputeSession::device_name());
  const double measured = introduce_machine(session, shape, layout, options.threads);
  const RunFolder folder(world, set, options, session.job_token());
  session.start_watchdog(
      std::chrono::milliseconds(static_cast<std::int64_t>(options.hang_timeout.seconds * 1000)),
      options.run_dir, layout.host_of_each_rank());
  clock.lap("machine and run folder");
  return train(session, set, options,
               {mesh, folder.has_checkpoints(), options.peak_gflops > 0 ? options.peak_gflops : measured,
                pool_limit(options.memory_limit, layout, world.rank()), clock});
}

}  // namespace charter
