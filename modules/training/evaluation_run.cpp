// SPDX-License-Identifier: Apache-2.0
#include "modules/training/evaluation_run.hpp"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "modules/tensor_parallel/mesh_tensor_axis.hpp"
#include "modules/training/evaluation_report.hpp"
#include "modules/training/evaluator.hpp"
#include "modules/training/machine_introduction.hpp"
#include "modules/training/memory_report.hpp"
#include "modules/training/mesh_layout.hpp"
#include "src/base/log.hpp"
#include "src/base/steady_time.hpp"
#include "src/report/format_units.hpp"
#include "src/report/progress_bar.hpp"
#include "src/tensor/compute_session.hpp"

namespace charter {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

MeshDegrees degrees_of(const EvaluationOptions& options) {
  MeshDegrees degrees;
  degrees.data = options.dp;
  degrees.tensor = options.tp;
  return degrees;
}

Arithmetic arithmetic_of(const EvaluationOptions& options) {
  return options.verify ? Arithmetic::order_fixed : Arithmetic::fast;
}

// What the pool of one rank reaches over all portions.
PoolUse plan_pool(const EvaluationOptions& options, const ModelConfig& config, const SampleStore& store,
                  const Mesh& planned_mesh) {
  MemoryPool pool(MemoryPool::Mode::plan);
  ExecutionQueue queue(pool, arithmetic_of(options));
  const MeshTensorAxis<float> tensor_axis(planned_mesh.tensor(), options.sequence_parallel);
  const ModelState<float> model(queue, config, tensor_axis);
  const Communicator& data_axis = planned_mesh.data_context();
  const Evaluator<float> evaluator(queue, model, data_axis);
  for (std::int64_t first = 0; first < store.size();) {
    const GlobalBatch portion = next_portion(store, first, portion_tokens(options, data_axis.size()));
    evaluator.by_sample(store, portion, plan_portion(portion, options, data_axis.size()));
    first = portion.next_cursor;
  }
  return pool.use(Space::device);
}

// --dry-run: the same code with counted memory and skipped kernels. One process is enough.
ExitCode plan_evaluation(const Communicator& world, const OptionSet& set, const EvaluationOptions& options) {
  together(world, "planning", [&] {
    if (world.rank() != 0) return;
    const OpenedModel opened = open_model_on_rank_0(Communicator::self("plan"), options.model, false);
    const ModelConfig config = ModelConfig::from_json(opened.files.config_json(), "config.json");
    const EvaluationData data = read_evaluation_data(options, config, opened.files);
    std::vector<PoolUse> uses;
    const MeshShape shape = planned_mesh(degrees_of(options), world.size(), config);
    for (int rank = 0; rank < shape.size(); ++rank)
      uses.push_back(plan_pool(options, config, data.store, Mesh::planned(shape, rank)));
    print(fmt::format("{}\nmodel: {}, {} parameters\ndata: {}\nmesh: {}\n\n{}", set.write_config_ini(),
                      to_string(config.architecture),
                      format_count(static_cast<double>(list_parameters(config).num_elements())),
                      describe(data.statistics), shape.summary(), pool_table(uses)));
  });
  return ExitCode::done;
}

// Rank 0's line of progress.
class EvaluationProgress {
 public:
  EvaluationProgress(const EvaluationOptions& options, std::int64_t documents)
      : bar_(&std::cerr, settings(options, documents)), portion_start_s_(steady_now_s()) {}

  void update(const EvaluationReport& report, std::int64_t portion_tokens) {
    const double now = steady_now_s();
    ProgressSample sample;
    sample.step = report.documents_done();
    // A long document takes several portions; before the first is through there is no mean.
    if (sample.step > 0) sample.loss = report.summary().mean_loss();
    sample.rate_per_s = static_cast<double>(portion_tokens) / (now - portion_start_s_);
    bar_.update(sample);
    portion_start_s_ = now;
  }
  void finish() { bar_.finish(); }

 private:
  static ProgressSettings settings(const EvaluationOptions& options, std::int64_t documents) {
    const TerminalShape terminal = terminal_shape(STDERR_FILENO);
    ProgressSettings settings;
    settings.total_steps = documents;
    settings.step_name = "document";
    settings.is_terminal = terminal.is_terminal;
    settings.columns = terminal.columns;
    settings.plain_interval_s = options.plain_interval.seconds;
    return settings;
  }

  ProgressBar bar_;
  double portion_start_s_;
};

// All portions, one after another. Returns how many losses were not finite, the same on every rank. `data`
// and `report` are there on rank 0.
std::int64_t evaluate_portions(const Mesh& mesh, const EvaluationOptions& options,
                               const Evaluator<float>& evaluator, const EvaluationData* data,
                               EvaluationReport* report) {
  const Communicator& world = mesh.world();
  const int dp = mesh.data_context().size();
  std::optional<EvaluationProgress> progress;
  if (data != nullptr) progress.emplace(options, std::ssize(data->documents));
  std::int64_t nonfinite = 0;
  for (std::int64_t first = 0;;) {
    const SharedPortion portion = share_portion(world, data, first, portion_tokens(options, dp));
    if (portion.batch.samples.empty()) break;
    const StepPlan plan = plan_portion(portion.batch, options, dp);
    const std::vector<LossSums> sums = evaluator.by_sample(portion.store, portion.batch, plan);
    for (const LossSums& of_sample : sums) nonfinite += of_sample.nonfinite;
    together(world, "writing the results", [&] {
      if (report == nullptr) return;
      for (std::size_t i = 0; i < sums.size(); ++i) report->add(sums[i], portion.batch.loss_tokens[i]);
      report->flush();
      progress->update(*report, plan.input_tokens);
    });
    first = portion.batch.next_cursor;
  }
  if (progress) progress->finish();
  together(world, "completing the results", [&] {
    if (report != nullptr) report->finish();
  });
  return nonfinite;
}

void introduce(const ModelState<float>& model, const EvaluationOptions& options, const EvaluationData& data) {
  log_info(fmt::format("model: {}, {} layers, width {}, {} parameters, {}",
                       to_string(model.config.architecture), model.config.layers, model.config.hidden,
                       format_count(static_cast<double>(model.list.num_elements())),
                       options.verify ? "order-fixed arithmetic (--verify)" : "fast arithmetic"));
  log_info("data: " + describe(data.statistics));
}

}  // namespace

ExitCode run_evaluation(Session& session, const OptionSet& set, const EvaluationOptions& options) {
  const Communicator& world = session.world();
  if (options.dry_run) return plan_evaluation(world, set, options);
  const MeshShape shape =
      lay_out_mesh(world, degrees_of(options), [&] { return config_json_of(options.model, false); });
  const Mesh mesh(world, shape);
  const NodeLayout layout = find_node_layout(world, ComputeSession::device_name());
  introduce_machine(session, shape, layout, options.threads);
  session.start_watchdog(
      std::chrono::milliseconds(static_cast<std::int64_t>(options.hang_timeout.seconds * 1000)), {},
      layout.host_of_each_rank());

  std::optional<EvaluationReport> report;
  together(world, "opening the output", [&] {
    if (world.rank() == 0) report.emplace(options);
  });
  const ProcessMemory memory_at_start = process_memory();
  MemoryPool pool(MemoryPool::Mode::run, pool_limit(options.memory_limit, layout, world.rank()));
  ExecutionQueue queue(pool, arithmetic_of(options));
  const OpenedModel opened = open_model_on_rank_0(world, options.model, false);
  const MeshTensorAxis<float> tensor_axis(mesh.tensor(), options.sequence_parallel);
  const auto model = together(world, "taking memory for the model", [&] {
    return std::make_unique<ModelState<float>>(
        queue, ModelConfig::from_json(opened.files.config_json(), "config.json"), tensor_axis);
  });
  std::optional<EvaluationData> data;
  {
    // Tokenising may take long while the others wait: a generous deadline for this phase.
    const ScopedPhase phase(world.log(), "preparing the data", std::chrono::hours(24));
    together(world, "preparing the data", [&] {
      if (world.rank() != 0) return;
      data.emplace(read_evaluation_data(options, model->config, opened.files));
      report->begin(*data);
    });
  }
  start_weights(queue, world, opened, 0, *model);
  if (data) introduce(*model, options, *data);

  const Evaluator<float> evaluator(queue, *model, mesh.data_context());
  const std::int64_t nonfinite =
      evaluate_portions(mesh, options, evaluator, data ? &*data : nullptr, report ? &*report : nullptr);
  log_info(describe_memory(pool, memory_at_start));
  if (report) print(report->text());
  together(world, "looking at the results", [&] {
    if (nonfinite == 0 || !report) return;
    fail(ExitCode::numerical, fmt::format("{} token losses are not finite, the first in {}; see the weights "
                                          "of {}",
                                          nonfinite, report->first_nonfinite(), options.model.string()));
  });
  return ExitCode::done;
}

}  // namespace charter
