/// A profile on a device that replays what it has captured: the layers of the steps that are measured are called, and
/// their results are those of a run that is not measured.
#include "run/step_profile.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpointing.h"
#include "parallel/fixed_batch.h"
#include "parallel/mpi_main.h"
#include "parallel/storage_ways.h"
#include "unit/io/same_bits.h"

namespace convoy::test {

namespace {

constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kSteps = 8;  // issued, captured, and replayed before the first that is measured, and after
constexpr TraceWindow kWindow{.first = 4, .num = 2};

RuntimeSpec spec() {
  return {.network = {.name = "resnet20", .input = ImageShape{8, 8, 3}, .micro_batch = 2, .num_classes = 10},
          .batch = {.global = 8, .micro = 2}};
}

struct Outcome {
  io::Checkpoint end;   ///< at the root
  std::string summary;  ///< at the root
};

Outcome train(std::unique_ptr<ops::Backend> backend, bool profiles, const std::string& directory) {
  const ProcessGrid grid(world(), world().size() % 2 == 0 ? 2 : 1);
  StatusBoard board;
  RankRuntime runtime(spec(), grid, *backend, board);
  TrainingStep training(runtime);
  initialise_parameters({.seed = kSeed}, runtime);
  FixedBatch batch(runtime, kSeed);
  StepProfile profile(training, kWindow);
  Outcome outcome;
  for (std::int64_t step = 1; step <= kSteps; ++step) {
    if (profiles) profile.begin_step(step);
    training.run(batch, 0.05);
    if (profiles) profile.end_step({.seconds = 0.25});
    runtime.finish();
    if (profiles && step == kWindow.end()) outcome.summary = profile.write(directory);
  }
  outcome.end = gather_checkpoint(training);
  return outcome;
}

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST(StepProfileOnRanks, CallsLayersOfStepsThatWouldBeReplayed) {
  const std::string directory =
      (std::filesystem::temp_directory_path() / fmt::format("convoy-profile-{}", world().size())).string();
  if (world().rank() == 0) std::filesystem::create_directories(directory);
  for (auto* make_backend : {make_cpu_backend, emulation::make_emulated_backend}) {
    const Outcome plain = train(make_backend(), false, directory);
    const Outcome profiled = train(make_backend(), true, directory);
    if (world().rank() != 0) continue;
    expect_same_bits(profiled.end.model, plain.end.model);
    EXPECT_EQ(profiled.summary.find("profile of steps 5 to 6: 250 ms each, of these\n"), 0u) << profiled.summary;
    const std::string table = read(directory + "/profile.csv");
    const std::int64_t calls = 4 / (world().size() % 2 == 0 ? world().size() / 2 : world().size());
    EXPECT_NE(table.find(fmt::format("layer3.2.conv2,64x64x3x3,2x2x2x64 f32,2x2x2x64 f32,gradient of w,{},", calls)),
              std::string::npos)
        << table;
  }
  if (world().rank() == 0) std::filesystem::remove_all(directory);
}

}  // namespace convoy::test
