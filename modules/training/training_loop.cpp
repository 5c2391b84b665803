// SPDX-License-Identifier: Apache-2.0
#include "modules/training/training_loop.hpp"

#include <cmath>
#include <iostream>

#include <fmt/format.h>
#include <unistd.h>

#include "modules/comm/agreement.hpp"
#include "modules/training/memory_report.hpp"
#include "modules/training/training_checkpoint.hpp"
#include "src/base/log.hpp"
#include "src/base/steady_time.hpp"
#include "src/report/format_units.hpp"

namespace charter {
namespace {

ProgressSettings progress_settings(const TrainingParts& parts, const RunProgress& progress) {
  const TerminalShape terminal = terminal_shape(STDERR_FILENO);
  ProgressSettings settings;
  settings.first_step = progress.step;
  settings.total_steps = parts.data.total_steps;
  settings.is_terminal = terminal.is_terminal;
  settings.columns = terminal.columns;
  settings.plain_interval_s = parts.options.plain_interval.seconds;
  settings.hint = fmt::format("kill -USR2 {} saves and stops", ::getpid());
  return settings;
}

// 2MNK of all products of a step: forward once, backward twice; attention over the visible half.
double step_flops(const ModelConfig& config, const GlobalBatch& batch) {
  double flops = 0;
  for (const std::int64_t tokens : batch.input_tokens) {
    const auto n = static_cast<double>(tokens);
    flops += 3 * n * (config.forward_flops_per_token() + config.attention_flops((n + 1) / 2));
  }
  return flops;
}

constexpr std::int64_t most_skips_in_a_row = 10;

}  // namespace

TrainingLoop::TrainingLoop(const TrainingParts& parts, const RunProgress& progress)
    : parts_(parts),
      progress_(progress),
      executor_(parts.queue, parts.model, parts.optimizer, parts.mesh, {}),
      evaluator_(parts.queue, parts.model, parts.mesh.data_context()),
      stop_(parts.options.run_dir,
            parts.options.stop_before ? std::optional(parts.options.stop_before->epoch_s) : std::nullopt,
            parts.mesh.rank() == 0),
      is_reporter_(parts.mesh.rank() == 0) {
  together(parts.mesh.world(), "opening metrics.jsonl", [&] {
    if (!is_reporter_) return;
    metrics_.emplace(parts_.options.run_dir / "metrics.jsonl", progress_.step > 0 ? progress_.step : -1);
    bar_.emplace(&std::cerr, progress_settings(parts_, progress_));
  });
}

bool TrainingLoop::at_end() const {
  return progress_.step >= parts_.data.total_steps || progress_.cursor >= parts_.data.end_cursor;
}

bool TrainingLoop::improves(std::optional<double> eval_loss) const {
  return eval_loss && std::isfinite(*eval_loss) &&
         (!progress_.best_eval_loss || *eval_loss < *progress_.best_eval_loss);
}

ExitCode TrainingLoop::run() {
  if (at_end()) {
    log_info("this run has reached its end; raise --max-steps or --epochs to train on");
    return ExitCode::done;
  }
  if (progress_.step == 0) evaluate();
  if (progress_.evaluation_pending) {
    progress_.evaluation_pending = false;
    mark_if_best(evaluate());
  }
  StopDecision decision;
  while (!at_end() && !decision.stop) {
    const StepResult result = train_step();
    decision = StopControl::decide(result.flags);
    if (decision.report) report_memory();
    const bool ends = at_end();
    if (decision.stop && !ends) log_info(fmt::format("asked to stop by {}", decision.reason));
    // A job that has to stop has no time for an evaluation; the next one makes up for it.
    progress_.evaluation_pending = evaluation_due(progress_.step) && decision.stop && !ends;
    std::optional<double> eval_loss;
    if (ends || (evaluation_due(progress_.step) && !decision.stop)) eval_loss = evaluate();
    progress_.finished = ends;
    const bool save_due = parts_.options.save_every > 0 && progress_.step % parts_.options.save_every == 0;
    if (save_due || decision.save || decision.stop || ends || improves(eval_loss)) {
      save(eval_loss, decision.stop || ends);
    }
  }
  if (bar_) bar_->finish();
  report_memory();
  if (at_end()) {
    log_info(
        fmt::format("finished at step {}; text_gen --model {} answers with what was trained, model_convert "
                    "--from hands it over",
                    progress_.step, parts_.options.run_dir.string()));
    return ExitCode::done;
  }
  stop_.stop_file_obeyed();
  log_info(fmt::format("stopped at step {} of {} with a checkpoint; the same command goes on", progress_.step,
                       parts_.data.total_steps));
  return ExitCode::requeue;
}

bool TrainingLoop::evaluation_due(std::int64_t step) const {
  return parts_.options.eval_every > 0 && step % parts_.options.eval_every == 0;
}

// Until a save was measured: at the rate of a slow file system.
double TrainingLoop::expected_save_s() const {
  if (last_save_s_ > 0) return last_save_s_;
  constexpr double bytes_per_s = 100e6;
  const double copies = parts_.optimizer.first_moment() == nullptr ? 1 : 3;
  return copies * static_cast<double>(parts_.model.list.num_elements()) * sizeof(float) / bytes_per_s;
}

StepResult TrainingLoop::train_step() {
  const double start = steady_now_s();
  const TrainingOptions& options = parts_.options;
  parts_.mesh.world().log().set_step(progress_.step + 1);
  set_log_step(progress_.step + 1);
  const GlobalBatch batch = parts_.data.batch_at(progress_.cursor);
  const StepPlan plan = plan_of(batch, options, parts_.mesh.data_context().size());
  StepSettings settings;
  settings.learning_rate = learning_rate(parts_.data.schedule, progress_.step);
  settings.max_gradient_norm = options.max_gradient_norm;
  const double eval_s = evaluation_due(progress_.step + 1) ? last_eval_s_ : 0;
  settings.flags = stop_.flags(smoothed_step_s_ + eval_s, expected_save_s());
  StepResult result = executor_.step(parts_.data.store, batch, plan, settings);
  handle_nonfinite(result);

  ++progress_.step;
  progress_.applied_steps = parts_.optimizer.applied_steps();
  progress_.cursor = batch.next_cursor;
  progress_.input_tokens += plan.input_tokens;
  progress_.loss_tokens += plan.loss_tokens;
  progress_.last_loss = result.sums.mean_loss(plan.loss_tokens);
  const double step_s = steady_now_s() - start;
  smoothed_step_s_ = smoothed_step_s_ == 0 ? step_s : 0.9 * smoothed_step_s_ + 0.1 * step_s;
  report(batch, plan, result, step_s);
  return result;
}

// Sums and norm are the same on all ranks, so all ranks throw or none.
void TrainingLoop::handle_nonfinite(const StepResult& result) {
  if (result.applied) {
    skipped_in_a_row_ = 0;
    return;
  }
  const std::string what =
      fmt::format("step {}: {} token losses are not finite or above 2^20, gradient norm {}",
                  progress_.step + 1, result.sums.nonfinite, result.gradient_norm);
  ++skipped_in_a_row_;
  if (parts_.options.on_nonfinite == NonfinitePolicy::stop || skipped_in_a_row_ >= most_skips_in_a_row) {
    const auto saved = parts_.checkpoints.newest_step();
    together(parts_.mesh.world(), "training", [&] {
      fail(ExitCode::numerical,
           fmt::format(
               "{}; nothing was applied, and the last checkpoint ({}) is untouched. Go on with "
               "--on-nonfinite skip, which leaves out such steps (at most {} in a row), or begin a new "
               "--run-dir with a lower --lr",
               what, saved ? fmt::format("step {}", *saved) : "none yet", most_skips_in_a_row));
    });
  }
  log_warning(what + "; the step is left out");
}

void TrainingLoop::report(const GlobalBatch& batch, const StepPlan& plan, const StepResult& result,
                          double step_s) {
  if (!is_reporter_) return;
  const TrainingOptions& options = parts_.options;
  const double tokens_per_s = static_cast<double>(plan.input_tokens) / step_s;
  bar_->update({progress_.step, progress_.last_loss, tokens_per_s});
  if (progress_.step % options.log_every != 0 && !at_end()) return;
  const double rate = step_flops(parts_.model.config, batch) / step_s / 1e9 / parts_.mesh.world().size();
  const double counted = static_cast<double>(std::max<std::int64_t>(plan.loss_tokens, 1));
  const std::vector<Metric> metrics{
      {"loss", progress_.last_loss},
      {"mean_token_accuracy", static_cast<double>(result.sums.correct) / counted},
      {"grad_norm", result.gradient_norm},
      {"learning_rate", learning_rate(parts_.data.schedule, progress_.step - 1)},
      {"epoch",
       static_cast<double>(progress_.cursor) / static_cast<double>(parts_.data.order.mixture().epoch_size())},
      {"samples", progress_.cursor},
      {"num_tokens", progress_.input_tokens},
      {"loss_tokens", plan.loss_tokens},
      {"applied", result.applied},
      {"tokens_per_s", tokens_per_s},
      {"step_s", step_s},
      {"data_s", result.times.data_s},
      {"forward_s", result.times.forward_s},
      {"backward_s", result.times.backward_s},
      {"reduce_s", result.times.reduce_s},
      {"update_s", result.times.update_s},
      {"gflops_per_rank", rate},
      {"mfu", parts_.peak_gflops_per_rank > 0 ? rate / parts_.peak_gflops_per_rank : std::nan("")},
      {"pool_peak_bytes", parts_.queue.pool().use(Space::device).peak_bytes},
      {"resident_bytes", process_memory().resident},
  };
  write_metrics(metrics);
}

// A full disk costs lines of metrics, not the run.
void TrainingLoop::write_metrics(std::span<const Metric> metrics) {
  try {
    metrics_->write(progress_.step, metrics);
    metrics_are_lost_ = false;
  } catch (const Error& error) {
    if (!metrics_are_lost_)
      log_error(fmt::format("{}; lines are left out until it works again", error.what()));
    metrics_are_lost_ = true;
  }
}

// The held-out loss; nothing when there is nothing to evaluate.
std::optional<double> TrainingLoop::evaluate() {
  const TrainingData& data = parts_.data;
  const std::int64_t held_out = data.split.validation_size();
  if (parts_.options.eval_every == 0 || held_out == 0) return {};
  const double start = steady_now_s();
  const std::int64_t wanted = parts_.options.eval_samples;
  const GlobalBatch batch =
      data.order.validation_batch(0, wanted > 0 ? std::min(wanted, held_out) : held_out);
  const StepPlan plan = plan_of(batch, parts_.options, parts_.mesh.data_context().size());
  const LossSums sums = evaluator_.total(data.store, batch, plan);
  const double loss = sums.mean_loss(plan.loss_tokens);
  last_eval_s_ = steady_now_s() - start;
  if (is_reporter_) {
    if (bar_) bar_->clear();
    log_info(fmt::format("held-out loss {:.4f} nats a token, perplexity {:.2f}, over {} samples", loss,
                         std::exp(loss), batch.samples.size()));
    const std::vector<Metric> metrics{
        {"eval_loss", loss},
        {"eval_perplexity", std::exp(loss)},
        {"eval_mean_token_accuracy", static_cast<double>(sums.correct) /
                                         static_cast<double>(std::max<std::int64_t>(plan.loss_tokens, 1))},
        {"eval_s", last_eval_s_}};
    write_metrics(metrics);
  }
  return loss;
}

void TrainingLoop::save(std::optional<double> eval_loss, bool must_succeed) {
  constexpr int most_failures_in_a_row = 3;
  if (bar_) bar_->clear();
  CheckpointContents contents;
  contents.step = progress_.step;
  RunProgress saved_progress = progress_;
  if (improves(eval_loss)) saved_progress.best_eval_loss = eval_loss;
  contents.training_state = saved_progress.to_json();
  contents.training_state["settings"] = parts_.settings;
  contents.training_state["eval_loss"] = eval_loss ? Json(*eval_loss) : Json(nullptr);
  contents.files = parts_.files.files;
  contents.loss = progress_.last_loss;
  const Communicator& world = parts_.mesh.world();
  const Communicator& data = parts_.mesh.data_context();
  const SaveResult saved = parts_.checkpoints.save(
      contents,
      owned_blocks<float>(parts_.queue, parts_.model, parts_.optimizer, {data.size(), data.rank()}));
  if (saved.already_there) return;
  if (saved.committed) {
    last_save_s_ = saved.seconds;
    log_info(fmt::format("checkpoint of step {} written: {} in {}", progress_.step, format_bytes(saved.bytes),
                         format_seconds(saved.seconds)));
    mark_if_best(eval_loss);
    return;
  }
  log_error(fmt::format("checkpoint of step {} failed: {}", progress_.step, saved.reason));
  if (saved.failures_in_a_row < most_failures_in_a_row && !must_succeed) return;
  const auto last = parts_.checkpoints.newest_step();
  together(world, "saving", [&] {
    fail(
        ExitCode::cannot_write,
        fmt::format("{}: {}. The last good checkpoint is {}",
                    saved.failures_in_a_row >= most_failures_in_a_row
                        ? fmt::format("{} checkpoints in a row could not be written", saved.failures_in_a_row)
                        : "the run has to end here and its checkpoint could not be written",
                    saved.reason, last ? fmt::format("that of step {}", *last) : "none: there was none yet"));
  });
}

// The checkpoint of this step is there.
void TrainingLoop::mark_if_best(std::optional<double> eval_loss) {
  if (!improves(eval_loss)) return;
  progress_.best_eval_loss = eval_loss;
  try {
    parts_.checkpoints.mark_best(progress_.step, *eval_loss);
  } catch (const AgreedError& error) {
    log_error(error.what());
  }
}

void TrainingLoop::report_memory() const {
  log_info(describe_memory(parts_.queue.pool(), parts_.memory_at_start));
}

}  // namespace charter
