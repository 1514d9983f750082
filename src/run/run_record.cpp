/// Counts, writes and shows what a run's steps gave.
#include "run/run_record.h"

#include <algorithm>

#include "convoy/base/log.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/params/parameters.h"

#include "run/describe_bad_step.h"
#include "run/report.h"

namespace convoy {

namespace {

StepMetrics sums_of(const io::TrainingState& state) {
  StepMetrics metrics{.objectives = {}};
  for (const io::EpochSums& sums : state.epoch)
    metrics.objectives.push_back({.loss = sums.loss,
                                  .num_correct = sums.num_correct,
                                  .num_labels = sums.num_labels,
                                  .num_samples = sums.num_samples});
  return metrics;
}

}  // namespace

RunRecord::RunRecord(const RunRecordSpec& spec, const io::TrainingState& start, const StepClock& clock)
    : spec_(spec),
      log_(spec.params.run.directory, rows_before(start), spec.metrics),
      live_(spec.params, spec.live, rows_before(start), spec.metrics),
      clock_(clock),
      epoch_(sums_of(start)),
      loss_range_(start),
      first_step_(start.step),
      epoch_first_step_(start.step),
      start_seconds_(now_seconds()),
      epoch_start_seconds_(start_seconds_) {
  for (const std::string& loss : log_.losses()) log_warning(loss);
}

RunLog::Keep RunRecord::rows_before(const io::TrainingState& start) const {
  const bool continues_within_epoch = start.step % spec_.steps.per_epoch != 0 && start.step < spec_.steps.total;
  const std::int64_t last_row = start.evaluated_step;  // later rows are written again
  RunLog::Keep keep{.epochs = continues_within_epoch ? std::min(last_row, start.step - 1) : last_row,
                    .steps = start.step};
  keep.expected_steps = {.first = spec_.first_row, .last = keep.steps};
  const bool keeps_last = keep.epochs == last_row;  // else the last row was of this epoch
  keep.expected_epochs = {.first = spec_.first_row,
                          .last = keeps_last ? last_row : last_row - last_row % spec_.steps.per_epoch,
                          .every = spec_.steps.per_epoch};
  return keep;
}

void RunRecord::add_start(const std::string& version, const std::string& machine) {
  live_.add_start({.version = version, .machine = machine, .step = first_step_, .steps = spec_.steps});
}

void RunRecord::write_rows() {
  log_.write_rows();
  live_.write_rows();
}

void RunRecord::add_step(const StepRow& row) {
  const std::int64_t step = row.step;
  const StepMetrics& metrics = row.metrics;
  const bool is_bad = row.outcome == StepOutcome::kBad || row.outcome == StepOutcome::kWrong;
  if ((step - 1) % spec_.steps.per_epoch == 0) epoch_ = {};
  if (!is_bad) {
    loss_range_.add(step, metrics.mean_loss());
    epoch_ += metrics;
  }
  log_.add_step(row, now_seconds());
  live_.add_step(row, now_seconds());
  if (is_bad || step % spec_.steps.per_epoch == 0) write_rows();  // a long evaluation may follow, or the end
  if (!progress_line_.is_due()) return;
  const double step_seconds = clock_.recent_seconds();
  const std::int64_t first_step = (epoch_of(step) - 1) * spec_.steps.per_epoch;  // of the epoch, counted from 0
  show({.epoch = epoch_of(step),
        .num_epochs = num_epochs(),
        .step = step - first_step,
        .num_steps = std::min(spec_.steps.per_epoch, spec_.steps.total - first_step),
        .loss = metrics.mean_loss(),
        .samples_per_second = step_seconds > 0 ? static_cast<double>(spec_.params.batch.global) / step_seconds : 0,
        .seconds_left = seconds_left(step, num_epochs() - epoch_of(step) + 1)},
       spec_.kind, progress_line_);
}

void RunRecord::go_back_to(const io::TrainingState& state) {
  log_.flush();  // the rows that stay are read again
  log_ = RunLog(spec_.params.run.directory, rows_before(state), spec_.metrics);
  live_.add_rollback(state);
  epoch_ = sums_of(state);
  loss_range_ = LossRange(state);
  first_step_ = std::min(first_step_, state.step);
  time_from(state.step);
}

void RunRecord::add_epoch(std::int64_t step, const std::optional<StepMetrics>& measured, double lr,
                          double wait_seconds) {
  const double seconds = training_seconds();
  const auto num_samples = static_cast<double>((step - epoch_first_step_) * spec_.params.batch.global);
  const bool is_val = spec_.measured == "val";
  const EpochRow row{.epoch = epoch_of(step),
                     .step = step,
                     .samples = step * spec_.params.batch.global,
                     .train = epoch_,
                     .test = is_val ? std::nullopt : measured,
                     .val = is_val ? measured : std::nullopt,
                     .lr = lr,
                     .samples_per_second = num_samples / std::max(seconds, 1e-9),
                     .data_wait_percent = 100.0 * wait_seconds / std::max(seconds, 1e-9),
                     .seconds = seconds,
                     .evaluation_seconds = pace_.of_epoch().evaluation,
                     .save_seconds = pace_.of_epoch().save,
                     .write_seconds = pace_.of_epoch().write};
  log_.add_epoch(row);
  live_.add_epoch(row);
  time_from(step);
  say(describe_epoch(row, spec_.kind, spec_.metrics, num_epochs(), seconds_left(step, num_epochs() - epoch_of(step))));
}

void RunRecord::add_test(const TestResult& result) {
  log_.write_test(result);
  say(fmt::format("test: {}  {}  with {} (epoch {})", counted(result.metrics.num_samples(), "sample"),
                  describe_metrics(result.metrics, spec_.metrics), result.checkpoint, epoch_of(result.step)));
}

void RunRecord::time_from(std::int64_t step) {
  epoch_first_step_ = step;
  epoch_start_seconds_ = now_seconds();
  pace_.end_epoch();
}

double RunRecord::seconds_left(std::int64_t step, std::int64_t epochs) const {
  return pace_.seconds_left(clock_.recent_seconds(), spec_.steps.total - step, epochs, step - first_step_);
}

// Returns how much of the run's time was no training: ", of these 12 s for the test set and 3 s for checkpoints". Work
// of less than half a second is left out.
std::string RunRecord::shown_other_seconds() const {
  constexpr double kMinShown = 0.5;
  const OtherSeconds& other = pace_.of_run();
  std::string text;
  const auto add = [&](double seconds, const char* what) {
    if (seconds >= kMinShown)
      text += fmt::format("{}{} {}", text.empty() ? ", of these " : " and ", human_seconds(seconds), what);
  };
  add(other.evaluation, spec_.measured == "val" ? "for the validation set" : "for the test set");
  add(other.save, "for checkpoints");
  add(other.audit, "for audits");
  return text;
}

// Returns the metric that the best weights and the patience follow: "val top-1".
std::string RunRecord::measured_metric() const {
  return fmt::format("{} {}", spec_.measured, spec_.metrics.chosen().title);
}

void RunRecord::save_to(io::TrainingState& state) const {
  state.epoch.clear();
  for (const ops::LossSums& sums : epoch_.objectives)
    state.epoch.push_back({.loss = sums.loss,
                           .num_correct = sums.num_correct,
                           .num_samples = sums.num_samples,
                           .num_labels = sums.num_labels});
  loss_range_.save_to(state);
}

void RunRecord::summarise(const RunEnd& end) {
  const io::TrainingState& state = end.state;
  const Metric& chosen = *spec_.metrics.chosen().metric;
  const std::string best = state.best_step > 0 ? fmt::format("; best {} {} in epoch {}", measured_metric(),
                                                             chosen.shown(state.best_value), epoch_of(state.best_step))
                                               : "";
  const char* how = end.by_audit        ? "stopped by an audit"
                    : end.stopped       ? "stopped on request"
                    : end.lost_patience ? "ended early"
                                        : "done";
  say(fmt::format("{}: {} after {}{}{}", how, describe_progress(state.step, spec_.steps, spec_.params.train),
                  human_seconds(now_seconds() - start_seconds_), shown_other_seconds(), best));
  if (const std::int64_t epochs = epoch_of(state.step) - epoch_of(state.improved_step);
      end.lost_patience && !end.stopped)
    say(fmt::format("train.patience_epochs: {} has not improved for {}", measured_metric(), counted(epochs, "epoch")));
  if (const std::string bad = describe_bad_steps(state); !bad.empty()) say(bad);
  say(end.memory);
  if (!end.audits.empty()) say(end.audits);
  if (!end.step.empty()) say(end.step);
  for (const std::string& line : live_.describe_slow_ranks()) say(line);
  live_.add_end(state.step, how);
  say(fmt::format("checkpoint: {}{}", end.checkpoint.empty() ? "none" : end.checkpoint,
                  end.best.empty() ? "" : fmt::format("; evaluate, predict and export take the best, {}", end.best)));
  if (!end.stopped || end.checkpoint.empty()) return;
  say(spec_.params.checkpoint.resume == "none" ? "run it again with checkpoint.resume = auto to resume from there"
                                               : "run the same command again to resume from there");
}

}  // namespace convoy
