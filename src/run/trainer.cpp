/// The training run: data, engine, restart, steps, epochs, checkpoints.
#include "run/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/progress_line.h"
#include "convoy/base/version.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/placement.h"
#include "convoy/comm/stop_signals.h"
#include "convoy/comm/tags.h"
#include "convoy/comm/topology.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/run_lock.h"
#include "convoy/params/parameters.h"

#include "calibrate/run_layout.h"
#include "checkpoint/checkpointing.h"
#include "checkpoint/model_fingerprint.h"
#include "evaluation/evaluation.h"
#include "plan/planner.h"
#include "run/bad_steps.h"
#include "run/checkpoint_saver.h"
#include "run/live_record.h"
#include "run/memory_report.h"
#include "run/open_run_directory.h"
#include "run/report.h"
#include "run/restart.h"
#include "run/run_audits.h"
#include "run/run_calendar.h"
#include "run/run_data.h"
#include "run/run_record.h"
#include "run/step_studies.h"
#include "run/stop_request.h"
#include "run/trained_model.h"
#include "run/training_samples.h"
#include "run/training_spec.h"
#include "step/step_clock.h"
#include "telemetry/rank_monitor.h"
#include "update/learning_rate.h"
#include "watch/status_board.h"

namespace convoy {

namespace {

// "1 node, 4 ranks on it; each rank on 8 processors in one NUMA domain"
std::string describe_hosts(const mpi::Communicator& world, const Device& device) {
  std::string hosts = host_summary(find_topology(world));
  const std::string placement = device.is_host() ? placement_summary(world) : "";
  return placement.empty() ? hosts : hosts + "; " + placement;
}

class Trainer {
 public:
  Trainer(const Parameters& params, RunData data, const RunLayout& layout, std::string hosts, const ProcessGrid& grid,
          ops::Backend& backend, StatusBoard& board);

  ExitStatus run();

 private:
  void begin();
  bool train_until_stopped(StopRequest& stop);
  std::unique_ptr<Loader> open_loader() const;
  StepOutcome step(Loader& loader);
  void go_back();
  void end_by_audit();
  void write_studies(std::vector<std::string> (StepStudies::*write)());
  void collect_until(std::int64_t step, StepOutcome outcome = StepOutcome::kApplied);
  void collect_rounds();
  double learning_rate_of(std::int64_t step) const { return learning_rate(learning_rate_, step) * state_.rate_factor; }
  bool row_is_due() const { return calendar_.row_is_due(state_); }
  bool is_over() const { return calendar_.is_over(state_); }
  bool end_epoch(const Loader& loader, StopRequest& stop);
  std::optional<StepMetrics> evaluate(const io::Dataset& data, StopRequest& stop);
  bool measure_test_set(StopRequest& stop);
  bool note_metric(const StepMetrics& measured);
  void save_checkpoint();
  void save_best();
  void save_to(std::vector<std::string> paths);
  std::string last_checkpoint() const;
  std::string best_checkpoint() const;
  std::string current_checkpoint() const { return io::checkpoint_path(checkpoint_directory(params_), state_.step); }

  const Parameters& params_;
  const RunLayout& layout_;
  const ProcessGrid& grid_;
  RunData data_;
  StepCount steps_;
  RunCalendar calendar_;
  Resident resident_before_ = resident_from_here();
  RankRuntime runtime_;
  TrainingStep training_{runtime_};
  EvaluationStep evaluation_{runtime_};
  TrainingSamples samples_;
  MetricsChannel metrics_;
  MetricList metric_list_;
  RankMonitor monitor_;
  StepStudies studies_;
  LearningRateSpec learning_rate_;
  std::string hosts_;

  io::TrainingState state_;
  BadSteps bad_steps_;
  RunAudits audits_;
  bool is_ended_by_audit_ = false;
  bool resumed_ = false;  ///< whether training resumed from a checkpoint
  std::int64_t saved_step_ = -1;
  std::int64_t collected_step_ = 0;                     ///< rank 0: metrics are recorded up to this step
  std::map<std::int64_t, std::uint64_t> fingerprints_;  ///< rank 0: by step, until they are recorded
  std::array<double, 2> step_seconds_{};                ///< seconds of the latest two steps, by step number
  double epoch_wait_seconds_ = 0;                       ///< seconds that the loader had waited when the epoch began
  StepClock clock_;
  std::optional<io::RunLock> lock_;  ///< rank 0
  std::optional<RunRecord> record_;  ///< rank 0
  CheckpointSaver saver_{params_, data_.metadata, training_, record_};
};

Trainer::Trainer(const Parameters& params, RunData data, const RunLayout& layout, std::string hosts,
                 const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board)
    : params_(params),
      layout_(layout),
      grid_(grid),
      data_(std::move(data)),
      steps_(count_steps(params, data_.train.info())),
      calendar_(params, steps_),
      runtime_(training_spec(params, data_.metadata, data_.train.info(), layout, !backend.device().is_host()), grid,
               backend, board),
      samples_({.params = params,
                .data = data_.train,
                .metadata = data_.metadata,
                .per_epoch = steps_.per_epoch,
                .training = training_}),
      metrics_(runtime_, tags::kTrainingLosses),
      metric_list_(runtime_.plan(), params.train.metric),
      monitor_(training_, params.run.rank_seconds),
      studies_(params.run, training_),
      learning_rate_(learning_rate_spec(params, steps_.per_epoch)),
      hosts_(std::move(hosts)),
      bad_steps_({.params = params, .samples = samples_, .training = training_, .rates = learning_rate_}),
      audits_(params, samples_, training_) {}

ExitStatus Trainer::run() {
  // 1. The state to start from, and what the person sees
  begin();

  // 2. Steps, until the end or a request to stop
  StopRequest stop(grid_.world());
  bool stopped = train_until_stopped(stop);

  // 3. Always a checkpoint at the end
  collect_until(state_.step);
  write_studies(&StepStudies::write_all);
  if (saved_step_ != state_.step) save_checkpoint();
  saver_.finish();

  const std::string memory = compare_memory(runtime_, resident_before_, resumed_);

  // 4. What data.val has chosen, on data.test
  if (!stopped && data_.val && data_.test) stopped = !measure_test_set(stop);
  metrics_.finish();
  monitor_.finish(state_.step);
  collect_rounds();
  runtime_.finish();
  stop.finish();
  if (record_)
    record_->summarise(
        {.stopped = stopped,
         .by_audit = is_ended_by_audit_,
         .lost_patience = state_.step < steps_.total && calendar_.lost_patience(state_),
         .state = state_,
         .checkpoint = last_checkpoint(),
         .best = best_checkpoint(),
         .memory = memory,
         .audits = audits_.summary(),
         .step = layout_.machine ? compare_step(predict_step(runtime_.plan()).step_seconds, clock_) : ""});
  return stopped ? ExitStatus::kStoppedEarly : ExitStatus::kDone;
}

// Fills the parameters: from a checkpoint, from given weights, or at random.
void Trainer::begin() {
  // An existing directory is locked before anything in it is read; a new one is only made when nothing can be refused
  // any more.
  mpi::on_root(grid_.world(), [&] {
    std::error_code unknown;  // if this fails, making the directory gives the reason
    if (std::filesystem::exists(params_.run.directory, unknown)) lock_.emplace(params_.run.directory);
  });
  const auto resumed = start_parameters(params_, data_, training_);
  resumed_ = resumed.has_value();
  if (resumed) {
    state_ = resumed->state;
    saver_.trust(resumed->path);
    if (resumed->path == current_checkpoint()) saved_step_ = state_.step;
  }
  state_.seed = static_cast<std::int64_t>(params_.train.seed);
  state_.batch_global = params_.batch.global;
  state_.batch_micro = params_.batch.micro;
  state_.num_samples = data_.train.info().num_samples;
  state_.train_hash = data_.train.content_hash();
  state_.metric_hash = data_.measured().content_hash();
  state_.metric = name_of(params_.train.metric);
  collected_step_ = state_.step;
  studies_.plan(steps_.total - state_.step);
  const LiveSpec live = live_spec(params_, runtime_, layout_, monitor_);
  mpi::on_root(grid_.world(), [&] {
    if (!lock_) lock_.emplace(params_.run.directory);
    open_run_directory({.params = params_,
                        .layout = layout_,
                        .data = data_,
                        .runtime = runtime_,
                        .state = state_,
                        .steps = steps_,
                        .live = live,
                        .hosts = hosts_,
                        .resumed_from = resumed ? resumed->path : "",
                        .changes = resumed ? resumed->changes : "",
                        .nothing_to_do = is_over() && !row_is_due()},
                       clock_, record_);
  });
  if (bad_steps_.may_go_back() && !is_over() && saved_step_ != state_.step) save_checkpoint();  // one to go to
  if (!is_over()) data_.stage(params_, grid_.world(), runtime_.board());  // nothing can be refused any more
}

bool Trainer::train_until_stopped(StopRequest& stop) {
  if (is_over() && !row_is_due()) return false;
  std::unique_ptr<Loader> loader = open_loader();
  if (row_is_due() && !end_epoch(*loader, stop)) return true;  // the run was stopped during the evaluation
  const ScopedActivity activity(runtime_.board(), Activity::kTraining);
  while (!is_over()) {
    const double audit_seconds = audits_.begin_step(state_.step + 1);
    if (record_) record_->add_other({.audit = audit_seconds});
    const StepOutcome outcome = step(*loader);
    if (outcome == StepOutcome::kWrong) {
      end_by_audit();
      return true;
    }
    if (outcome == StepOutcome::kBad) saver_.settle();  // the checkpoint to go back to is on disk
    if (bad_steps_.must_go_back(outcome, state_, record_ ? &*record_ : nullptr)) {
      loader.reset();
      go_back();
      loader = open_loader();
    }
    bool stopped = stop.agreed();
    if (!stopped && row_is_due()) stopped = !end_epoch(*loader, stop);
    if (stopped) return !is_over() || row_is_due();
    if (calendar_.checkpoint_is_due(state_.step) && saved_step_ != state_.step) save_checkpoint();
  }
  return false;
}

std::unique_ptr<Loader> Trainer::open_loader() const {
  return samples_.open_steps(state_.step, std::max<std::int64_t>(0, steps_.total - state_.step));
}

StepOutcome Trainer::step(Loader& loader) {
  studies_.begin_step(state_.step + 1);
  monitor_.begin_step();
  const double start = now_seconds();
  const StepOutcome outcome = training_.run(loader, learning_rate_of(state_.step));
  const double seconds = now_seconds() - start;
  clock_.add(seconds);
  metrics_.post(training_.sums());
  monitor_.end_step(++state_.step, seconds);
  step_seconds_[state_.step % 2] = seconds;
  state_.samples += params_.batch.global;
  if (calendar_.fingerprint_is_due(state_.step)) {
    const std::uint64_t fingerprint = model_fingerprint(runtime_);
    if (record_) fingerprints_[state_.step] = fingerprint;
  }
  collect_until(state_.step - 1);  // the metrics of the step before arrived during this step
  collect_rounds();
  saver_.go_on();
  if (outcome != StepOutcome::kApplied) collect_until(state_.step, outcome);
  studies_.end_step(seconds);
  write_studies(&StepStudies::write_complete);
  return outcome;
}

// After a bad step, goes back to a checkpoint, which is saved again with the lower learning rate; later checkpoints are
// removed.
void Trainer::go_back() {
  write_studies(&StepStudies::write_all);
  const std::int64_t bad_step = state_.step;
  state_ = bad_steps_.go_back(state_, record_ ? &*record_ : nullptr);
  collected_step_ = state_.step;
  fingerprints_.clear();
  epoch_wait_seconds_ = 0;
  save_checkpoint();
  saver_.finish();
  bad_steps_.remove_later_checkpoints(state_, bad_step);
}

// Ends the run without saving what the ranks hold: the newest checkpoint is from before the audit's finding.
void Trainer::end_by_audit() {
  saver_.settle();
  audits_.report(state_.step);
  end_crashes_with(ExitStatus::kStoppedEarly);
  is_ended_by_audit_ = true;
  saved_step_ = state_.step;
}

// Returns the checkpoint that a restart would resume from, at the end of the run; empty if there is none.
std::string Trainer::last_checkpoint() const {
  if (!is_ended_by_audit_) return current_checkpoint();
  const auto newest = io::find_newest_checkpoint(checkpoint_directory(params_), [](const auto&, const auto&) {});
  return newest ? newest->path : "";
}

// Returns the best checkpoint, which find_weights() will choose; empty if there is none.
std::string Trainer::best_checkpoint() const {
  const std::string path = io::best_checkpoint_path(checkpoint_directory(params_));
  std::error_code unknown;
  return state_.best_step > 0 && std::filesystem::exists(path, unknown) ? path : "";
}

// Writes the studies; the time for it does not count as training time.
void Trainer::write_studies(std::vector<std::string> (StepStudies::*write)()) {
  const double start = now_seconds();
  const std::vector<std::string> texts = (studies_.*write)();
  if (!record_ || texts.empty()) return;
  for (const std::string& text : texts) record_->say(text);
  record_->add_other({.studies = now_seconds() - start});
}

// Collects the metrics of steps up to `step`, whose outcome is `outcome`. Those before it were applied, or collected at
// once.
void Trainer::collect_until(std::int64_t step, StepOutcome outcome) {
  if (!record_) return;
  for (; collected_step_ < step; ++collected_step_) {
    const auto fingerprint = fingerprints_.extract(collected_step_ + 1);
    record_->add_step({.step = collected_step_ + 1,
                       .metrics = metrics_.collect(),
                       .lr = learning_rate_of(collected_step_),
                       .fingerprint = fingerprint ? std::optional(fingerprint.mapped()) : std::nullopt,
                       .outcome = outcome,
                       .seconds = step_seconds_[(collected_step_ + 1) % 2]});
  }
}

void Trainer::collect_rounds() {
  if (!record_) return;
  while (const auto round = monitor_.collect()) record_->add_round(*round);
}

// Returns false if a stop was requested before the evaluation was done: the row is due again after the restart.
bool Trainer::end_epoch(const Loader& loader, StopRequest& stop) {
  collect_until(state_.step);
  const double waited = loader.wait_seconds() - epoch_wait_seconds_;
  epoch_wait_seconds_ = loader.wait_seconds();
  // The maximum over all ranks, in microseconds: all ranks wait for the slowest loader.
  const std::int64_t waited_microseconds = grid_.world().max(std::llround(waited * 1e6));
  const double start = now_seconds();
  std::optional<StepMetrics> measured;
  if (calendar_.evaluation_is_due(state_.step)) {
    measured = evaluate(data_.measured(), stop);
    if (!measured) return false;
  }
  const bool is_best = measured && note_metric(*measured);
  state_.evaluated_step = state_.step;
  saved_step_ = -1;  // the checkpoint from before the evaluation does not have this row
  if (record_) {
    record_->add_other({.evaluation = now_seconds() - start});
    record_->add_epoch(state_.step, measured, learning_rate_of(state_.step - 1),
                       static_cast<double>(waited_microseconds) * 1e-6);
  }
  if (is_best && params_.checkpoint.best) save_best();
  return true;
}

// Evaluates with the weights' moving average if evaluate.weights asks for it; returns nothing if a stop was requested.
std::optional<StepMetrics> Trainer::evaluate(const io::Dataset& data, StopRequest& stop) {
  const bool of_ema = training_.has_ema() && params_.evaluate.weights == WeightsKind::kEma;
  if (of_ema) training_.swap_ema();
  auto metrics = evaluate_dataset(
      evaluation_,
      {.samples = data, .metadata = data_.metadata, .params = params_, .work = "measure", .stop = [this, &stop] {
         saver_.go_on();
         return stop.agreed();
       }});
  if (of_ema) training_.swap_ema();
  return metrics;
}

// Measures with the weights of the best checkpoint, or the run's last ones if none is kept. The training is over, and
// its last checkpoint written. Returns false if a stop was requested: the same run, started again, comes here at once.
bool Trainer::measure_test_set(StopRequest& stop) {
  std::optional<TrainedModel> best;
  if (state_.best_step > 0) best = load_best(params_, state_.best_step, grid_.world());
  if (best) restore_weights(best->tensors, best->path, runtime_);
  const auto metrics = evaluate(*data_.test, stop);
  if (metrics && record_)
    record_->add_test({.step = best ? state_.best_step : state_.step,
                       .checkpoint = best ? best->path : current_checkpoint(),
                       .metrics = *metrics});
  return metrics.has_value();
}

// Returns on all ranks what rank 0 decides: whether the value is the best so far.
bool Trainer::note_metric(const StepMetrics& measured) {
  const NetworkMetric& chosen = metric_list_.chosen();
  double value = grid_.is_root() ? chosen.value(measured) : 0;
  grid_.world().broadcast(&value, sizeof value, 0);
  if (!std::isfinite(value)) {
    if (grid_.is_root())
      log_warning(fmt::format("the {} of step {} is not a finite number: this step cannot be the best", chosen.title,
                              state_.step));
    return false;
  }
  if (state_.best_step > 0 && !chosen.metric->is_better(value, state_.best_value)) return false;
  state_.best_value = value;
  state_.best_step = state_.step;
  return true;
}

void Trainer::save_checkpoint() {
  saved_step_ = state_.step;
  save_to({current_checkpoint()});
}

// Saves the best weights. If a checkpoint of this step is due, too, both files are written from one copy.
void Trainer::save_best() {
  std::vector<std::string> paths = {io::best_checkpoint_path(checkpoint_directory(params_))};
  if (calendar_.checkpoint_is_due(state_.step) || is_over()) {
    paths.push_back(current_checkpoint());
    saved_step_ = state_.step;
  }
  save_to(std::move(paths));
}

void Trainer::save_to(std::vector<std::string> paths) {
  mpi::on_root(grid_.world(), [&] { lock_->check_in_place(); });
  collect_until(state_.step);
  state_.loss_scale = training_.loss_scale().state().scale;
  state_.loss_scale_steps = training_.loss_scale().state().good_steps;
  state_.updates = training_.counts().updates;
  if (record_) record_->save_to(state_);
  saver_.save({.paths = std::move(paths), .state = state_});
}

}  // namespace

ExitStatus train(const Parameters& params, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board) {
  // 1. The data, which the person sees before anything that takes long
  requested_grid(params, world.size());  // refused before anything is opened
  const auto say = [&](const std::string& text) {
    if (world.rank() == 0) ProgressLine().line(text);
  };
  say(fmt::format("convoy {}", version()));
  board.enter(Activity::kOpeningData);
  RunData data(params);
  check_sample_path(params, data.train, data.metadata);
  count_steps(params, data.train.info());  // may refuse; before anything is printed
  const std::string hosts = describe_hosts(world, backend.device());
  say(fmt::format("{}{}; {}", describe_work(params, runtime_spec(params, data.metadata), data.train.info()), hosts,
                  backend.device().description()));
  // 2. Who does what
  board.enter(Activity::kPlanning);
  const RunLayout layout = choose_layout(params, data.metadata, world, backend);
  board.enter(Activity::kStarting);
  const ProcessGrid grid(world, layout.stages);
  // 3. Do it
  return Trainer(params, std::move(data), layout, hosts, grid, backend, board).run();
}

}  // namespace convoy
