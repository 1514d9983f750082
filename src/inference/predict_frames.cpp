/// Predicts frames from the standard input: window after window of the stream, each as an evaluation of its own.
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/print.h"
#include "convoy/base/progress_line.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/frames.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "inference/frame_table.h"
#include "inference/inference.h"
#include "inference/predicting.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

constexpr const char* kKey = "predict.data";

void check_takes_frames(const Parameters& params, const TrainedModel& model) {
  if (!model.metadata.reads_images())
    refuse(
        "predict.data = - reads the frames of a film, but the network of {} reads {}. Give a network that was "
        "trained on images",
        model.owner(), model.metadata.kind());
  if (params.predict.explain)
    refuse(
        "predict.explain = true lists the samples that each rank computes, but a stream of frames (predict.data = -) "
        "has no list. Leave one of them out");
}

FrameWindow::Spec window_spec(const Parameters& params, const TrainedModel& model, const StepPlan& plan,
                              StatusBoard& board) {
  FrameWindow::Spec spec{.width = params.predict.frames.width,
                         .height = params.predict.frames.height,
                         .channels = model.metadata.image().shape.c,
                         .step_frames = plan.spec().batch.global,
                         .shares = {},
                         .on_wait = [&board] { board.enter(Activity::kOpeningData); }};
  const std::int64_t micro = plan.spec().batch.micro;
  for (std::int64_t replica = 0; replica < plan.grid().replicas; ++replica) {
    const auto micro_batches = plan.micro_batches_of(replica);
    spec.shares.push_back({.first = micro_batches.begin * micro, .count = micro_batches.size() * micro});
  }
  return spec;
}

// Returns "2400 frames in 12.3 s: 195 frames/s".
std::string speed(std::int64_t num_frames, double seconds) {
  return fmt::format("{} in {:.1f} s: {:.0f} frames/s", counted(num_frames, "frame"), seconds,
                     static_cast<double>(num_frames) / seconds);
}

// Returns a sentence about the frames before the one that is missing; empty if there are none.
std::string describe_written(std::int64_t num_frames) {
  if (num_frames == 0) return "";
  return num_frames == 1 ? ". The frame before it is written"
                         : fmt::format(". The {} frames before it are written", num_frames);
}

// Throws if the stream had no frame, could not be read, or ended within a frame.
void check_end(const StreamEnd& end, const FrameSize& size, std::int64_t num_frames) {
  const std::string written = describe_written(num_frames);
  if (end.error_number != 0)
    fail("predict.data = -: frame {} cannot be read from the standard input: {}{}", num_frames + 1,
         std::strerror(static_cast<int>(end.error_number)), written);
  if (end.rest_bytes > 0)
    fail(
        "predict.data = -: the stream ends within frame {}: it has {} of the {} bytes of {} x {} pixels{}. If the "
        "stream is complete, predict.frames is not the size that ffmpeg writes, and all rows are wrong",
        num_frames + 1, end.rest_bytes, 3 * size.width * size.height, size.width, size.height, written);
  if (num_frames == 0)
    refuse(
        "predict.data = -: the standard input is empty. Give it the frames of a film: ffmpeg -i film.mp4 -f rawvideo "
        "-pix_fmt rgb24 - | convoy predict ... Under srun, give it to rank 0: srun --input=0");
}

}  // namespace

ExitStatus predict_frames(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board) {
  const Parameters& params = request.params;
  // 1. What is asked for
  const mpi::Communicator& world = grid.world();
  mpi::on_root(world, check_standard_input);
  const bool writes_weights = find_weight_sharers(grid, backend.device()).rank() == 0;
  TrainedModel model = load_trained(request, world, writes_weights);
  check_takes_frames(params, model);
  RankRuntime runtime(evaluation_spec(params, model.metadata), grid, backend, board);
  EvaluationStep evaluation(runtime);
  check_gives_outputs(runtime, model);
  FrameWindow frames(grid, window_spec(params, model, runtime.plan(), board));
  check_samples(model.metadata, frames.info(), kKey, model.owner());
  restore_weights(std::exchange(model.tensors, {}), model.path, runtime);  // and frees them
  const std::string sharing = runtime.shared_weights()->describe();
  std::optional<FrameTable> table;  // rank 0
  mpi::on_root(world, [&] { table.emplace(params, frames, model.metadata, model.path); });
  // 2. All frames, in order
  const double start = now_seconds();
  std::optional<ProgressLine> progress;
  if (grid.is_root()) progress.emplace();
  const EvaluationSpec spec{.samples = frames,
                            .metadata = model.metadata,
                            .params = params,
                            .work = "",
                            .observe = [&](const StepOutputs& step) {
                              check_finite(step, frames, std::ssize(model.metadata.class_names));
                              table->append(step);
                              const std::int64_t num_frames = frames.first_frame() + step.first_sample;
                              if (progress->is_due())
                                progress->show("predict", 0, speed(num_frames, now_seconds() - start));
                            }};
  while (frames.advance()) evaluate_dataset(evaluation, spec);
  // 3. The results
  const std::int64_t num_frames = frames.first_frame();
  if (grid.is_root() && num_frames > 0) {
    progress->clear();
    print("checkpoint: {}\n{}{}{}\n-> {}\n", model.describe(), sharing,
          describe_resizing(model.metadata, frames.info()), speed(num_frames, now_seconds() - start), table->path());
  }
  check_end(frames.end(), params.predict.frames, num_frames);
  return ExitStatus::kDone;
}

}  // namespace convoy
