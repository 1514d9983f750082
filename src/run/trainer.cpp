/// The training run: data, engine, restart, steps, epochs, checkpoints.
#include "run/trainer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "convoy/base/clock.h"
#include "convoy/base/progress_line.h"
#include "convoy/base/version.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/placement.h"
#include "convoy/comm/stop_signals.h"
#include "convoy/comm/topology.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/run_lock.h"
#include "convoy/params/parameters.h"

#include "plan/planner.h"
#include "run/bad_steps.h"
#include "run/checkpoint_saver.h"
#include "run/memory_report.h"
#include "run/open_run_directory.h"
#include "run/report.h"
#include "run/run_audits.h"
#include "run/run_evaluations.h"
#include "run/step_rows.h"
#include "run/step_studies.h"
#include "run/stop_request.h"

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
  Trainer(TrainingSetup& setup, RunData& data, std::string hosts);

  ExitStatus run();

 private:
  void begin();
  bool train_until_stopped(StopRequest& stop);
  std::unique_ptr<Loader> open_loader() const;
  StepOutcome step(Loader& loader);
  void go_back();
  void end_by_audit();
  double learning_rate_of(std::int64_t step) const { return learning_rate(setup_.rates, step) * state_.rate_factor; }
  bool row_is_due() const { return calendar_.row_is_due(state_); }
  bool is_over() const { return calendar_.is_over(state_); }
  bool end_epoch(const Loader& loader, StopRequest& stop);
  RunEvaluations::Stop during_evaluation(StopRequest& stop);
  void save_checkpoint();
  void save_best();
  void save_to(std::vector<std::string> paths);
  std::string last_checkpoint() const;
  std::string best_checkpoint() const;
  std::string current_checkpoint() const { return io::checkpoint_path(checkpoint_directory(params_), state_.step); }

  TrainingSetup& setup_;
  const Parameters& params_;
  RunData& data_;
  std::string hosts_;
  RunCalendar calendar_;
  RunEvaluations evaluations_;
  BadSteps bad_steps_;
  io::TrainingState state_;
  bool is_ended_by_audit_ = false;
  bool resumed_ = false;  ///< whether training resumed from a checkpoint
  std::int64_t saved_step_ = -1;
  double epoch_wait_seconds_ = 0;    ///< seconds that the loader had waited when the epoch began
  std::optional<io::RunLock> lock_;  ///< rank 0
  StepClock clock_;
  std::optional<RunRecord> record_;  ///< rank 0
  CheckpointSaver saver_;
  RunAudits audits_;
  StepRows rows_;
  RankMonitor monitor_;
  StepStudies studies_;
  std::array<StepObserver*, 5> observers_ = {&clock_, &audits_, &rows_, &monitor_, &studies_};
};

Trainer::Trainer(TrainingSetup& setup, RunData& data, std::string hosts)
    : setup_(setup),
      params_(setup.params),
      data_(data),
      hosts_(std::move(hosts)),
      calendar_(params_, setup.steps),
      evaluations_(setup, data),
      bad_steps_(setup),
      saver_(params_, data.metadata, setup.training, record_),
      audits_(setup, record_),
      rows_(setup.training, calendar_, record_),
      monitor_(setup.training, params_.run.rank_seconds,
               [this](const RankSamples& samples) { record_->add_samples(samples); }),
      studies_(params_.run, setup.training, record_) {}

ExitStatus Trainer::run() {
  // 1. The state to start from, and what the person sees
  begin();

  // 2. Steps, until the end or a request to stop
  StopRequest stop(setup_.grid.world());
  bool stopped = train_until_stopped(stop);
  for (StepObserver* observer : observers_) observer->finish();

  // 3. Always a checkpoint at the end
  if (saved_step_ != state_.step) save_checkpoint();
  saver_.finish();

  const std::string memory = compare_memory(setup_.runtime, setup_.before, resumed_);

  // 4. What data.val has chosen, on data.test
  if (!stopped && data_.val && data_.test) {
    const auto tested = evaluations_.measure_test_set(state_, during_evaluation(stop));
    if (tested && record_) record_->add_test(*tested);
    stopped = !tested;  // the same run, started again, comes here at once
  }
  setup_.runtime.finish();
  stop.finish();
  if (record_)
    record_->summarise({.stopped = stopped,
                        .by_audit = is_ended_by_audit_,
                        .lost_patience = state_.step < setup_.steps.total && calendar_.lost_patience(state_),
                        .state = state_,
                        .checkpoint = last_checkpoint(),
                        .best = best_checkpoint(),
                        .memory = memory,
                        .audits = audits_.summary(),
                        .step = setup_.layout.machine ? compare_step(predict_step(setup_.runtime.plan()).step_seconds,
                                                                     clock_, setup_.grid.world().size())
                                                      : ""});
  return stopped ? ExitStatus::kStoppedEarly : ExitStatus::kDone;
}

// Fills the parameters: from a checkpoint, from given weights, or at random.
void Trainer::begin() {
  // An existing directory is locked before anything in it is read; a new one is only made when nothing can be refused
  // any more.
  mpi::on_root(setup_.grid.world(), [&] {
    std::error_code unknown;  // if this fails, making the directory gives the reason
    if (std::filesystem::exists(params_.run.directory, unknown)) lock_.emplace(params_.run.directory);
  });
  const auto resumed = start_parameters(params_, data_, setup_.training);
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
  state_.metric = name_of(setup_.runtime.plan().metric());
  studies_.plan(setup_.steps.total - state_.step);
  const LiveSpec live = live_spec(setup_, monitor_);
  mpi::on_root(setup_.grid.world(), [&] {
    if (!lock_) lock_.emplace(params_.run.directory);
    open_run_directory({.setup = setup_,
                        .data = data_,
                        .state = state_,
                        .live = live,
                        .hosts = hosts_,
                        .resumed = resumed,
                        .nothing_to_do = is_over() && !row_is_due()},
                       clock_, record_);
  });
  if (bad_steps_.may_go_back() && !is_over() && saved_step_ != state_.step) save_checkpoint();  // one to go to
  if (!is_over())
    data_.copy_to_nodes(params_, setup_.grid.world(), setup_.runtime.board());  // nothing can be refused any more
}

bool Trainer::train_until_stopped(StopRequest& stop) {
  if (is_over() && !row_is_due()) return false;
  std::unique_ptr<Loader> loader = open_loader();
  if (row_is_due() && !end_epoch(*loader, stop)) return true;  // the run was stopped during the evaluation
  const ScopedActivity activity(setup_.runtime.board(), Activity::kTraining);
  while (!is_over()) {
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
  return setup_.open_steps(state_.step, std::max<std::int64_t>(0, setup_.steps.total - state_.step));
}

StepOutcome Trainer::step(Loader& loader) {
  // 1. What looks at steps prepares for this one
  for (StepObserver* observer : observers_) observer->begin_step(state_.step + 1);

  // 2. The step
  StepResult result{.step = state_.step + 1, .lr = learning_rate_of(state_.step)};
  const double start = now_seconds();
  result.outcome = setup_.training.run(loader, result.lr);
  result.seconds = now_seconds() - start;

  // 3. What it has changed, and what is recorded of it
  state_.step = result.step;
  state_.samples += params_.batch.global;
  for (StepObserver* observer : observers_) observer->end_step(result);
  saver_.go_on();
  return result.outcome;
}

// After a bad step, goes back to a checkpoint, which is saved again with the lower learning rate; later checkpoints are
// removed.
void Trainer::go_back() {
  studies_.finish();
  const std::int64_t bad_step = state_.step;
  state_ = bad_steps_.go_back(state_, record_ ? &*record_ : nullptr);
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

// Returns false if a stop was requested before the evaluation was done: the row is due again after the restart.
bool Trainer::end_epoch(const Loader& loader, StopRequest& stop) {
  rows_.collect();
  const double waited = loader.wait_seconds() - epoch_wait_seconds_;
  epoch_wait_seconds_ = loader.wait_seconds();
  // The maximum over all ranks, in microseconds: all ranks wait for the slowest loader.
  const std::int64_t waited_microseconds = setup_.grid.world().max(std::llround(waited * 1e6));
  const double start = now_seconds();
  std::optional<StepMetrics> measured;
  if (calendar_.evaluation_is_due(state_.step)) {
    measured = evaluations_.measure(data_.measured(), during_evaluation(stop));
    if (!measured) return false;
  }
  const bool is_best = measured && evaluations_.note_if_best(*measured, state_);
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

// While the network is measured, the last checkpoint is sent and written.
RunEvaluations::Stop Trainer::during_evaluation(StopRequest& stop) {
  return [this, &stop] {
    saver_.go_on();
    return stop.agreed();
  };
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
  mpi::on_root(setup_.grid.world(), [&] { lock_->check_in_place(); });
  rows_.collect();
  state_.loss_scale = setup_.training.loss_scale().state().scale;
  state_.loss_scale_steps = setup_.training.loss_scale().state().good_steps;
  state_.updates = setup_.training.counts().updates;
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
  RunData data(params, world);
  check_sample_path(params, data.train, data.metadata);
  count_steps(params, data.train.info());  // may refuse; before anything is printed
  const std::string hosts = describe_hosts(world, backend.device());
  say(fmt::format("{}{}; {}", describe_work(params, runtime_spec(params, data.metadata), data.train.info()), hosts,
                  backend.device().description()));
  // 2. Who does what
  board.enter(Activity::kPlanning);
  const RunLayout layout = choose_layout(params, data.metadata, world, backend);
  board.enter(Activity::kStarting);
  // 3. Do it
  TrainingSetup setup(params, data.train, data.metadata, layout, world, backend, board);
  return Trainer(setup, data, hosts).run();
}

}  // namespace convoy
