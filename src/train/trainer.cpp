/// The training run: data, engine, restart, steps, epochs, checkpoints.
#include "convoy/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/params/parse.h"

#include "train/checkpointing.h"
#include "train/evaluation.h"
#include "train/input.h"
#include "train/learning_rate.h"
#include "train/report.h"
#include "train/restart.h"
#include "train/run_record.h"
#include "train/stop_request.h"

namespace convoy {

namespace {

constexpr int kTrainingTag = 9003;

void check_same_kind(const io::DatasetInfo& train, const io::DatasetInfo& test) {
  if (train.image != test.image)
    refuse("data.test holds {} images, data.train {}. Import both with one command.", to_string(test.image),
           to_string(train.image));
  if (train.class_names != test.class_names)
    refuse("data.test has other classes ({}) than data.train ({}). Import both with one command.",
           test.class_names.size(), train.class_names.size());
}

// The number of steps between checkpoints of one kind; 0 for never.
std::int64_t steps_between(double epochs, std::int64_t steps_per_epoch) {
  if (epochs <= 0) return 0;
  return std::max<std::int64_t>(1, std::llround(epochs * static_cast<double>(steps_per_epoch)));
}

class Trainer {
 public:
  Trainer(const Parameters& params, const ProcessGrid& grid, ops::Library& library);

  ExitStatus run();

 private:
  void plan_steps();
  void open_run_directory();
  Loader open_loader() const;
  void step(Loader& loader);
  void collect_until(std::int64_t step);
  void end_epoch(const Loader& loader);
  bool checkpoint_due() const;
  void save_checkpoint();
  std::string current_checkpoint() const { return io::checkpoint_path(checkpoint_directory(params_), state_.step); }

  const Parameters& params_;
  const ProcessGrid& grid_;
  io::Dataset train_data_, test_data_;
  Sampler sampler_;
  Augmenter augmenter_;
  Engine engine_;
  MetricsChannel metrics_;
  LearningRateSpec learning_rate_;
  std::int64_t steps_per_epoch_ = 0, total_steps_ = 0;

  io::TrainingState state_;
  std::int64_t saved_step_ = -1;
  std::int64_t collected_step_ = 0;  ///< rank 0: metrics are recorded up to here
  double epoch_wait_seconds_ = 0;    ///< of the loader, when the epoch began
  std::optional<RunRecord> record_;  ///< rank 0
};

Trainer::Trainer(const Parameters& params, const ProcessGrid& grid, ops::Library& library)
    : params_(params),
      grid_(grid),
      train_data_(params.data.train, "data.train"),
      test_data_(params.data.test, "data.test"),
      sampler_(
          {.num_samples = train_data_.info().num_samples, .seed = params.train.seed, .shuffle = params.data.shuffle}),
      augmenter_(make_augmenter(
          train_data_.info(),
          {.crop_padding = params.augment.crop_padding, .flip = params.augment.flip, .seed = params.train.seed},
          params.augment.normalize)),
      engine_(engine_spec(params, train_data_.info()), grid, library),
      metrics_(engine_, kTrainingTag) {
  check_same_kind(train_data_.info(), test_data_.info());
  plan_steps();
}

void Trainer::plan_steps() {
  const std::int64_t num_samples = train_data_.info().num_samples;
  steps_per_epoch_ = num_samples / params_.batch.global;  // what is left over waits for another epoch's shuffle
  if (steps_per_epoch_ == 0)
    refuse("batch.global = {} is more than the {} samples of data.train. Allowed: up to {}.", params_.batch.global,
           num_samples, num_samples);
  total_steps_ = steps_between(params_.train.epochs, steps_per_epoch_);
  if (params_.train.max_steps > 0) total_steps_ = std::min(total_steps_, params_.train.max_steps);
  learning_rate_ = {.params = params_.lr,
                    .base = params_.optimizer.lr,
                    .steps_per_epoch = steps_per_epoch_,
                    .epochs = params_.train.epochs};
}

ExitStatus Trainer::run() {
  // 1. Where training starts: a checkpoint, given weights, or random ones
  if (const auto resumed = start_parameters(params_, engine_)) {
    state_ = *resumed;
    saved_step_ = state_.step;
  }
  state_.seed = static_cast<std::int64_t>(params_.train.seed);
  state_.batch_global = params_.batch.global;
  collected_step_ = state_.step;
  open_run_directory();

  // 2. Steps, until the end or a request to stop
  StopRequest stop(grid_.world());
  bool stopped = false;
  if (state_.step < total_steps_) {
    Loader loader = open_loader();
    while (state_.step < total_steps_ && !stopped) {
      step(loader);
      if (state_.step % steps_per_epoch_ == 0) end_epoch(loader);
      stopped = stop.agreed() && state_.step < total_steps_;
      if (checkpoint_due()) save_checkpoint();
    }
  }

  // 3. Always a checkpoint at the end
  collect_until(state_.step);
  if (saved_step_ != state_.step) save_checkpoint();
  if (record_) record_->summarise(state_.step, stopped, current_checkpoint());
  return stopped ? ExitStatus::kStoppedEarly : ExitStatus::kDone;
}

void Trainer::open_run_directory() {
  if (!grid_.is_root()) return;
  std::error_code error;
  std::filesystem::create_directories(checkpoint_directory(params_), error);
  if (error)
    fail("cannot make run.directory = {}: {}. Choose one where you may write", params_.run.directory, error.message());
  const std::string text = render(params_);
  io::write_file_atomically(params_.run.directory + "/params.cfg", std::as_bytes(std::span(text)));
  record_.emplace(RunRecordSpec{.directory = params_.run.directory,
                                .steps_per_epoch = steps_per_epoch_,
                                .total_steps = total_steps_,
                                .batch_global = params_.batch.global},
                  state_);
  record_->say(describe_run(params_, engine_.plan(), train_data_.info(), engine_.device().description()));
  if (state_.step > 0) record_->say(fmt::format("resumed: {}", current_checkpoint()));
  if (!engine_.plan().is_invariant())
    log_warning(
        fmt::format("{} micro-batches a step on {} replicas{}: only runs with {} replicas will give the same bits",
                    engine_.plan().micro_batches_a_step(), grid_.num_replicas(),
                    params_.run.reduction == ReductionKind::kFast ? " with run.reduction = fast"
                                                                  : " are no equal blocks of a power of two",
                    grid_.num_replicas()));
}

Loader Trainer::open_loader() const {
  LoaderSpec spec = loader_spec(engine_, params_);
  spec.first_step = state_.step;
  spec.num_steps = total_steps_ - state_.step;
  spec.steps_per_epoch = steps_per_epoch_;
  return Loader(train_data_, sampler_, augmenter_, engine_.device(), spec);
}

void Trainer::step(Loader& loader) {
  engine_.train_step(loader, learning_rate(learning_rate_, state_.step));
  metrics_.post();
  ++state_.step;
  state_.samples += params_.batch.global;
  collect_until(state_.step - 1);  // the metrics of the step before have arrived during this one
}

void Trainer::collect_until(std::int64_t step) {
  if (!record_) return;
  for (; collected_step_ < step; ++collected_step_)
    record_->add_step(collected_step_ + 1, metrics_.collect(), learning_rate(learning_rate_, collected_step_));
}

void Trainer::end_epoch(const Loader& loader) {
  collect_until(state_.step);
  const double waited = loader.wait_seconds() - epoch_wait_seconds_;
  epoch_wait_seconds_ = loader.wait_seconds();
  // Of all ranks, in microseconds: the slowest loader holds everyone up.
  const std::int64_t waited_microseconds = grid_.world().max(std::llround(waited * 1e6));
  const double start = now_seconds();
  const StepMetrics test = evaluate_dataset(engine_, test_data_, train_data_.info(), params_);
  if (!record_) return;
  record_->exclude_seconds(now_seconds() - start);
  record_->add_epoch(state_.step, test, learning_rate(learning_rate_, state_.step - 1),
                     static_cast<double>(waited_microseconds) * 1e-6);
}

bool Trainer::checkpoint_due() const {
  const auto due = [&](std::int64_t every) { return every > 0 && state_.step % every == 0; };
  return due(params_.checkpoint.every_steps) || due(steps_between(params_.checkpoint.every_epochs, steps_per_epoch_));
}

void Trainer::save_checkpoint() {
  collect_until(state_.step);
  const double start = now_seconds();
  engine_.finish();
  io::Checkpoint checkpoint = gather_checkpoint(engine_);
  saved_step_ = state_.step;
  if (!record_) return;
  record_->flush();  // the rows that this checkpoint covers
  record_->save_to(state_);
  checkpoint.state = state_;
  checkpoint.parameters = render(params_);
  io::write_file_atomically(current_checkpoint(), io::encode_checkpoint(checkpoint));
  io::remove_old_checkpoints(checkpoint_directory(params_), params_.checkpoint.keep);
  record_->exclude_seconds(now_seconds() - start);
}

}  // namespace

ExitStatus train(const Parameters& params, const ProcessGrid& grid, ops::Library& library) {
  return Trainer(params, grid, library).run();
}

ExitStatus evaluate(const Parameters& params, const ProcessGrid& grid, ops::Library& library) {
  const io::Dataset test_data(params.data.test, "data.test");
  const io::Dataset train_data(params.data.train, "data.train");  // its mean and deviation are what the network knows
  check_same_kind(train_data.info(), test_data.info());
  Engine engine(engine_spec(params, test_data.info()), grid, library);
  const std::string path = load_for_evaluation(params, engine);
  const double start = now_seconds();
  const StepMetrics metrics = evaluate_dataset(engine, test_data, train_data.info(), params);
  const double seconds = now_seconds() - start;
  if (grid.is_root()) {
    fmt::print("checkpoint: {}\n", path);
    fmt::print("{}: {} samples  loss {:.4f}  top-1 {:.2f} %  ({:.0f} images/s)\n", params.data.test,
               metrics.num_samples, metrics.mean_loss(), 100 * metrics.top1(),
               static_cast<double>(metrics.num_samples) / seconds);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
