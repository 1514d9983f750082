/// Runs on a GPU; skipped if there is none.
#pragma once

#include <string>
#include <vector>

#include "app/runs.h"
#include "app/small_data.h"
#include "ops/cuda/backend.h"

namespace convoy::test {

class OnGpu : public Runs {
 protected:
  using Runs::Runs;

  void SetUp() override {
    if (const std::string reason = ops::cuda::why_unavailable(); !reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
  }

  /// Makes all following runs compute on the GPU, with the same engines of cuDNN: those that the first of them
  /// measured.
  void compute_on_gpu(const std::string& precision) {
    arguments_ = arguments_ + std::vector<std::string>{"--run.device=cuda", "--train.precision=" + precision,
                                                       "--run.engines=" + (directory_ / "engines.txt")};
  }

  void expect_gpu_was_used() const { EXPECT_TRUE(contains(output_, "cuDNN")) << output_; }
};

}  // namespace convoy::test
