/// Times how long ranks wait for a checkpoint of resnet50 with momentum: written while training continues, and while
/// all ranks wait, in turn. Started by tools/bench/checkpoint.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "convoy/base/clock.h"
#include "convoy/base/median.h"
#include "convoy/comm/process_grid.h"
#include "convoy/comm/session.h"
#include "convoy/ops/backend.h"
#include "convoy/params/parameters.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/snapshot.h"
#include "run/checkpoint_saver.h"
#include "run/restart.h"
#include "timing.h"

namespace convoy::bench {

namespace {

constexpr int kMaxStepsOfAWrite = 100;

/// Times in seconds, one value per round; set on rank 0.
struct Times {
  std::vector<double> step, step_beside_write, wait, background_wait, write, copy;
};

RuntimeSpec resnet50() {
  return {.network = {.name = "resnet50", .input = ImageShape{224, 224, 3}, .micro_batch = 4, .num_classes = 1000},
          .batch = {.global = 8, .micro = 4},
          .optimizer = {.kind = OptimizerKind::kSgd}};
}

/// The time in seconds that the slowest rank waits for a save.
double wait_of(CheckpointSaver& saver, const std::string& path, const mpi::Communicator& world) {
  world.barrier();
  const double start = now_seconds();
  saver.save({.paths = {path}, .state = {}});
  return static_cast<double>(world.max(static_cast<std::int64_t>(1e9 * (now_seconds() - start)))) * 1e-9;
}

// Copies as many bytes as the rank with the largest snapshot does, in memory that was touched before.
class PlainCopy {
 public:
  explicit PlainCopy(const RankRuntime& runtime) {
    const std::int64_t replicas = runtime.plan().grid().replicas, kinds = 1 + runtime.plan().num_states();
    std::int64_t floats = 0;
    for (const StagePlan& stage : runtime.plan().stages())
      floats = std::max(floats, kinds * shard_of(stage.layout, 0, replicas).count);
    from_.resize(floats, 1);
    to_.resize(floats, 2);
  }
  std::int64_t bytes() const { return std::ssize(from_) * kFloatBytes; }
  double seconds() {
    const double start = now_seconds();
    std::memcpy(to_.data(), from_.data(), from_.size() * sizeof(float));
    return now_seconds() - start;
  }

 private:
  std::vector<float> from_, to_;
};

void run_round(TrainingStep& training, SyntheticSource& source, CheckpointSaver& waiting, CheckpointSaver& background,
               const std::string& path, PlainCopy& copy, Times& times) {
  const mpi::Communicator& world = training.runtime().grid().world();
  times.step.push_back(seconds_of_step(training, source, world));
  times.wait.push_back(wait_of(waiting, path, world));
  times.copy.push_back(copy.seconds());
  seconds_of_step(training, source, world);
  times.background_wait.push_back(wait_of(background, path, world));
  bool is_writing = true;
  for (int step = 0; is_writing && step < kMaxStepsOfAWrite; ++step) {
    times.step_beside_write.push_back(seconds_of_step(training, source, world));
    background.go_on();
    is_writing = world.max(background.is_writing() ? 1 : 0) != 0;
  }
  background.finish();
  times.write.push_back(background.write_seconds());
}

void print(const ProcessGrid& grid, CheckpointFiles files, const Times& times, std::int64_t copied_bytes) {
  const double step = median(times.step);
  const auto line = [&](const char* what, const std::vector<double>& seconds) {
    fmt::print("  {:<52}{:9.1f} ms {:7.1f} %\n", what, 1e3 * median(seconds), 100 * median(seconds) / step);
  };
  fmt::print("resnet50, momentum, {} x {} (stages x replicas), medians of {} rounds; % of a step\n", grid.num_stages(),
             grid.num_replicas(), times.step.size());
  line("step", times.step);
  line("wait, checkpoint.background = false", times.wait);
  line(fmt::format("wait, in the background, checkpoint.files = {}", name_of(files)).c_str(), times.background_wait);
  line(fmt::format("plain copy of {:.0f} MB, what a rank owns", 1e-6 * static_cast<double>(copied_bytes)).c_str(),
       times.copy);
  line("writing in the background", times.write);
  line("step while a checkpoint is written", times.step_beside_write);
}

// Arguments: stages, rounds, a folder for the files, checkpoint.files of the checkpoints written in the background.
ExitStatus run(const std::vector<std::string>& arguments, const mpi::Session& session) {
  const ProcessGrid grid(session.world(), std::stoll(arguments.at(0)));
  const std::int64_t rounds = std::stoll(arguments.at(1));
  Parameters params, waiting_params;
  params.run.directory = waiting_params.run.directory = arguments.at(2);
  waiting_params.checkpoint.background = false;
  if (arguments.at(3) == name_of(CheckpointFiles::kSharded)) params.checkpoint.files = CheckpointFiles::kSharded;
  if (grid.is_root()) std::filesystem::create_directories(checkpoint_directory(params));
  const auto backend = ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
  StatusBoard board;
  RankRuntime runtime(resnet50(), grid, *backend, board);
  TrainingStep training(runtime);
  initialise_parameters({.seed = 1}, runtime);
  SyntheticSource source(runtime);
  const io::ModelMetadata metadata{.name = "resnet50",
                                   .input = io::ImageInput{.channel_mean = {0, 0, 0}, .channel_stddev = {1, 1, 1}}};
  std::optional<RunRecord> no_record;
  CheckpointSaver waiting(waiting_params, metadata, training, no_record),
      background(params, metadata, training, no_record);
  PlainCopy copy(runtime);
  Times warm, times;
  const std::string path = io::checkpoint_path(checkpoint_directory(params), 0);
  run_round(training, source, waiting, background, path, copy, warm);  // allocates the memory
  for (std::int64_t round = 0; round < rounds; ++round)
    run_round(training, source, waiting, background, path, copy, times);
  if (grid.is_root()) print(grid, params.checkpoint.files, times, copy.bytes());
  return ExitStatus::kDone;
}

}  // namespace

}  // namespace convoy::bench

int main(int argc, char** argv) {
  return convoy::mpi::run_guarded(argc, argv, [&](convoy::mpi::Session& session) {
    return convoy::bench::run({argv + 1, argv + argc}, session);
  });
}
