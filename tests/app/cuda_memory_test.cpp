/// No kernel of ours reads or writes where it should not: NVIDIA's compute-sanitizer looks on.
#include "app/on_gpu.h"

namespace convoy::test {

namespace {

/// Everything takes 10 to 50 times as long: the smallest steps there are, one rank, only our own kernels. Unwatched
/// each takes half a minute at most.
class CudaMemory : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    const Ending version = run_program({.arguments = {"--version"}, .program = CONVOY_COMPUTE_SANITIZER});
    if (version.status != 0) GTEST_SKIP() << "no compute-sanitizer: " << version.output;
  }

  /// Failing calls of CUDA are met by who makes them; NVIDIA's own libraries try calls that may fail.
  static std::vector<std::string> sanitizer(const std::string& kind) {
    return {CONVOY_COMPUTE_SANITIZER, "--tool", kind, "--kernel-regex", "kns=convoy", "--report-api-errors", "no"};
  }

  static constexpr double kPatienceSeconds = 50 * 30;
};

class CudaMemoryOfTraining : public CudaMemory, public testing::WithParamInterface<std::string> {};

}  // namespace

TEST_P(CudaMemoryOfTraining, StaysWithinItsBounds) {
  compute_on_gpu(GetParam());
  train("measures", {1, 1}, 1);  // cuDNN's engines, once
  const Ending ending =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--batch.global=16", "--train.max_steps=3",
                                                                      "--run.directory=" + (directory_ / "watched")},
                   .patience_seconds = kPatienceSeconds,
                   .tool = sanitizer("memcheck")});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_TRUE(contains(ending.output, "done: step 3 of 3")) << ending.output;
  EXPECT_TRUE(contains(ending.output, "ERROR SUMMARY: 0 errors")) << ending.output;
}

INSTANTIATE_TEST_SUITE_P(In, CudaMemoryOfTraining, testing::Values("f32", "bf16"),
                         [](const auto& test) { return test.param; });

TEST_F(CudaMemory, ThreadsOfBatchNormDoNotRace) {
  const Ending ending = run_program({.arguments = {"--gtest_filter=*BatchNorm*"},
                                     .patience_seconds = kPatienceSeconds,
                                     .program = CONVOY_CUDA_OPS,
                                     .tool = sanitizer("racecheck")});
  EXPECT_EQ(ending.status, 0) << ending.output;
  EXPECT_FALSE(contains(ending.output, "SKIPPED")) << ending.output;
  EXPECT_TRUE(contains(ending.output, "RACECHECK SUMMARY: 0 hazards")) << ending.output;
}

}  // namespace convoy::test
