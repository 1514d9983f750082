/// No kernel of ours reads or writes outside of its memory, as checked by NVIDIA's compute-sanitizer.
#include "app/on_gpu.h"

namespace convoy::test {

namespace {

/// Everything takes 10 to 50 times as long: the smallest possible steps, one rank, only our own kernels. Without the
/// sanitizer each takes half a minute at most.
class CudaMemory : public OnGpu {
 protected:
  void SetUp() override {
    OnGpu::SetUp();
    if (IsSkipped()) return;
    const ProcessResult version = run_program({.arguments = {"--version"}, .program = CONVOY_COMPUTE_SANITIZER});
    if (version.status != 0) GTEST_SKIP() << "no compute-sanitizer: " << version.output;
  }

  /// Failing CUDA calls are checked by their callers; NVIDIA's own libraries try calls that may fail.
  static std::vector<std::string> sanitizer(const std::string& kind) {
    return {CONVOY_COMPUTE_SANITIZER, "--tool", kind, "--kernel-regex", "kns=convoy", "--report-api-errors", "no"};
  }

  static constexpr double kTimeoutSeconds = 50 * 30;
};

class CudaMemoryOfTraining : public CudaMemory, public testing::WithParamInterface<std::string> {};

}  // namespace

TEST_P(CudaMemoryOfTraining, StaysWithinItsBounds) {
  compute_on_gpu(GetParam());
  train("measures", {1, 1}, 1);  // cuDNN's engines, once
  const ProcessResult result =
      run_program({.arguments = arguments_ + std::vector<std::string>{"--batch.global=16", "--train.max_steps=3",
                                                                      "--run.directory=" + (directory_ / "watched")},
                   .timeout_seconds = kTimeoutSeconds,
                   .tool = sanitizer("memcheck")});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_TRUE(contains(result.output, "done: step 3 of 3")) << result.output;
  EXPECT_TRUE(contains(result.output, "ERROR SUMMARY: 0 errors")) << result.output;
}

INSTANTIATE_TEST_SUITE_P(In, CudaMemoryOfTraining, testing::Values("f32", "bf16"),
                         [](const auto& test) { return test.param; });

TEST_F(CudaMemory, ThreadsOfBatchNormDoNotRace) {
  const ProcessResult result = run_program({.arguments = {"--gtest_filter=*BatchNorm*"},
                                            .timeout_seconds = kTimeoutSeconds,
                                            .program = CONVOY_CUDA_OPS,
                                            .tool = sanitizer("racecheck")});
  EXPECT_EQ(result.status, 0) << result.output;
  EXPECT_FALSE(contains(result.output, "SKIPPED")) << result.output;
  EXPECT_TRUE(contains(result.output, "RACECHECK SUMMARY: 0 hazards")) << result.output;
}

}  // namespace convoy::test
