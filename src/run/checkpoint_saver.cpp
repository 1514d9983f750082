/// Implements what all ranks do between two steps, and what rank 0's writing thread does.
#include "run/checkpoint_saver.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "run/divergence.h"
#include "run/restart.h"
#include "run/run_audits.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

/// Shorter waits are not reported.
constexpr double kMinDelaySeconds = 0.1;

// Encodes the checkpoint and frees its tensors before the bytes are written.
std::vector<std::byte> encode(io::Checkpoint&& checkpoint) {
  const io::Checkpoint taken = std::move(checkpoint);
  return io::encode_checkpoint(taken);
}

}  // namespace

CheckpointSaver::CheckpointSaver(const Parameters& params, const io::ModelMetadata& metadata, TrainingStep& training,
                                 std::optional<RunRecord>& record)
    : params_(params),
      metadata_(metadata),
      training_(training),
      runtime_(training.runtime()),
      record_(record),
      keeper_(checkpoint_directory(params), params.checkpoint.keep) {
  if (params.checkpoint.background && runtime_.grid().world().size() > 1)
    runtime_.set_beside([this] {
      if (snapshot_) snapshot_->progress();
    });
}

void CheckpointSaver::save(SaveRequest request) {
  const ScopedActivity activity(runtime_.board(), Activity::kSaving);
  const double start = now_seconds();
  const std::int64_t step = request.state.step;
  if (await_previous()) {
    warn_of_failure();
    warn_of_delay(now_seconds() - start, step);
  }
  if (record_) record_->write_rows();
  runtime_.finish();
  const CheckpointParams& how = params_.checkpoint;
  if (how.background || how.files == CheckpointFiles::kSharded) {
    if (!snapshot_) snapshot_ = make_snapshot(how.files, checkpoint_directory(params_), training_);
    snapshot_->take(step);
  }
  if (how.background) {
    if (is_root()) gathered_ = std::move(request);
    saved_step_ = step;
    is_saving_ = true;
    go_on();
  } else if (how.files == CheckpointFiles::kSharded) {
    snapshot_->finish();
    mpi::on_root(runtime_.grid().world(), [&] { write_snapshot(request); });
  } else {
    io::Checkpoint checkpoint = gather_checkpoint(training_);
    // This may take long: no rank waits within a step meanwhile, so the watchdog's patience does not count.
    mpi::on_root(runtime_.grid().world(), [&] {
      const std::string not_finite = find_not_finite(checkpoint.model);
      write(request, not_finite, std::move(checkpoint));
    });
  }
  if (record_) record_->add_other({.save = now_seconds() - start});
}

void CheckpointSaver::go_on() {
  if (!is_saving_) return;
  snapshot_->progress();
  if (!is_root()) return;
  if (gathered_ && snapshot_->is_complete()) hand_over();
  if (!writer_.is_done()) return;
  take_result();
  warn_of_failure();
}

void CheckpointSaver::settle() {
  if (await_previous()) warn_of_failure();
}

void CheckpointSaver::finish() {
  const ScopedActivity activity(runtime_.board(), Activity::kSaving);
  const double start = now_seconds();
  await_previous();
  if (record_) record_->add_other({.save = now_seconds() - start});
  mpi::on_root(runtime_.grid().world(), [&] {
    if (failure_) fail("the last checkpoint, of step {}, is not saved: {}", saved_step_, *failure_);
  });
}

// All ranks wait here, none of them within a step, so the watchdog's patience does not count.
bool CheckpointSaver::await_previous() {
  if (!is_saving_) return false;
  bool was_busy = false;
  snapshot_->finish();
  mpi::on_root(runtime_.grid().world(), [&] {
    if (gathered_) hand_over();
    was_busy = writer_.is_busy();
    if (was_busy) take_result();
  });
  is_saving_ = false;
  return was_busy;
}

void CheckpointSaver::hand_over() {
  writer_.start([this, request = std::move(*gathered_)] { write_snapshot(request); });
  gathered_.reset();
}

void CheckpointSaver::take_result() {
  const WriteResult result = writer_.wait();
  write_seconds_ = result.seconds;
  failure_.reset();
  if (record_) record_->add_other({.write = result.seconds});
  if (result.error == nullptr) return;
  try {
    std::rethrow_exception(result.error);
  } catch (const DivergenceError&) {
    throw;
  } catch (const std::exception& error) {  // a full disk, no memory: the training can continue
    failure_ = error.what();
  }
}

void CheckpointSaver::warn_of_failure() {
  if (failure_)
    log_warning(fmt::format(
        "the checkpoint of step {} is not saved: {}. The training continues, and older checkpoints are not affected",
        saved_step_, *failure_));
}

void CheckpointSaver::warn_of_delay(double seconds, std::int64_t step) {
  if (warned_of_delay_ || seconds < kMinDelaySeconds) return;
  warned_of_delay_ = true;
  log_warning(fmt::format(
      "the checkpoint of step {} was due before that of step {} was written, and all ranks waited {:.1f} s for it. "
      "Writing a checkpoint takes {:.1f} s. Save less often (checkpoint.every_epochs, checkpoint.every_steps), or "
      "choose a run.directory on a faster disk. This warning is printed only once",
      step, saved_step_, seconds, write_seconds_));
}

// Returns the step below which the newest checkpoint is also kept: it is from before the loss left its range, and from
// before the latest audit. 0: no such bound exists.
std::int64_t CheckpointSaver::bound_of_kept(const LossRange& range, std::int64_t step) const {
  std::int64_t bound = range.left_step() > 0 ? first_step_not_to_resume(range.left_step()) : 0;
  const std::int64_t audited = last_audited_step(params_.run, step);
  if (audited > 0) bound = bound > 0 ? std::min(bound, audited + 1) : audited + 1;
  return bound;
}

// Writes the snapshot. If that fails, the parts that the ranks have written are removed.
void CheckpointSaver::write_snapshot(const SaveRequest& request) {
  try {
    const std::string not_finite = snapshot_->not_finite();
    write(request, not_finite, not_finite.empty() ? snapshot_->content() : io::Checkpoint());
  } catch (...) {
    io::remove_unlisted_parts(checkpoint_directory(params_));
    throw;
  }
}

// `not_finite`: a tensor with values that are not finite numbers, if there is one.
void CheckpointSaver::write(const SaveRequest& request, const std::string& not_finite, io::Checkpoint checkpoint) {
  const LossRange range(request.state);
  if (!not_finite.empty()) refuse_to_save(not_finite, request.state.step, range, checkpoint_directory(params_));
  if (record_) record_->sync_rows();  // rows of the steps that this checkpoint covers
  checkpoint.metadata = metadata_;
  checkpoint.state = request.state;
  checkpoint.parameters = render(params_);
  const std::vector<std::byte> bytes = encode(std::move(checkpoint));
  for (const std::string& path : request.paths) {
    io::write_file_atomically(path, bytes);
    if (record_) record_->add_checkpoint(request.state.step, path);
    keeper_.trust(path);
  }
  keeper_.remove_old(request.state.step, bound_of_kept(range, request.state.step));
}

}  // namespace convoy
