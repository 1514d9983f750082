/// On a GPU, too, the layout never changes the answer; and runs move between CPU and GPU.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "app/on_gpu.h"

namespace convoy::test {

namespace {

/// A network and the precision that it is trained in.
struct Case {
  const char* data;
  std::vector<std::string> (*import_data)(const std::string& folder);
  const char* precision;
};

class CudaLayout : public OnGpu, public testing::WithParamInterface<Case> {
 protected:
  CudaLayout() : OnGpu(*GetParam().import_data) { compute_on_gpu(GetParam().precision); }
};

std::vector<std::string> import_images(const std::string& folder) {
  return import_small_data(folder);
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const char* precision : {"f32", "bf16", "fp16"}) {
    cases.push_back({"images", import_images, precision});
    cases.push_back({"texts", import_small_texts, precision});
  }
  return cases;
}

class CudaRestart : public OnGpu {
 protected:
  /// Returns |a - b| / |b| of the model's tensor that differs most.
  double largest_distance(const std::string& a, const std::string& b) const {
    const io::Checkpoint first = checkpoint(a, 4), second = checkpoint(b, 4);
    double largest = 0;
    for (std::size_t i = 0; i < first.model.size(); ++i) {
      double difference = 0, norm = 0;
      for (std::size_t j = 0; j < first.model[i].values.size(); ++j) {
        difference += std::pow(first.model[i].values[j] - second.model[i].values[j], 2);
        norm += std::pow(second.model[i].values[j], 2);
      }
      largest = std::max(largest, std::sqrt(difference / norm));
    }
    return largest;
  }

  double last_loss(const std::string& name) const {
    const std::string rows = read_text((directory_ / name) + "/steps.csv");
    return std::stod(rows.substr(rows.find("\n4,") + 3));
  }

  /// Compares, at step 4, runs that separate after step 3: later the roundings of two devices have grown too large to
  /// tell anything.
  void expect_close(const std::string& a, const std::string& b) const {
    SCOPED_TRACE(a + " against " + b);
    EXPECT_NEAR(last_loss(a) / last_loss(b), 1, 1e-5);  // two roundings of a CPU: 1e-7
    const double distance = largest_distance(a, b);
    EXPECT_GT(distance, 0) << "the same bits: both went on on one device";
    // Two roundings of a CPU: 5e-7. A ReLU on the other side of zero moves a gradient by up to 4e-3 of its norm, the
    // step a young bias by half of it. A step from other parameters would move biases by all of them.
    EXPECT_LT(distance, 5e-3);
  }
};

}  // namespace

TEST_P(CudaLayout, EveryGridAndScheduleGivesTheSameBits) {
  train("1x1", {1, 1}, 12);
  expect_gpu_was_used();
  for (const Grid& grid : {Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}, Grid{1, 4}}) {
    train(name_of(grid), grid, 12);
    expect_same_run("1x1", name_of(grid));
  }
  for (const std::string schedule : {"naive", "gpipe", "zero_bubble", "interleaved"}) {
    train(schedule, {2, 2}, 12, schedule);
    expect_same_run("1x1", schedule);
  }
}

TEST_P(CudaLayout, ARestartOntoAnotherGridInMidEpochGivesTheSameBits) {
  train("whole", {1, 1}, 12);
  train("pieces", {2, 2}, 5);  // 10 steps per epoch: both cuts are uneven
  EXPECT_NE(checkpoint("pieces", 5).model[0].values, checkpoint("whole", 12).model[0].values) << "nothing was trained";
  train("pieces", {4, 1}, 11);
  train("pieces", {1, 2}, 12, "gpipe", "4");
  expect_same_run("whole", "pieces");
}

INSTANTIATE_TEST_SUITE_P(Of, CudaLayout, testing::ValuesIn(all_cases()), [](const auto& test) {
  return fmt::format("{}_in_{}", test.param.data, test.param.precision);
});

TEST_F(CudaRestart, AGpuGoesOnFromTheCpusCheckpointAndACpuFromTheGpus) {
  const std::vector<std::string> on_cpu = arguments_;
  train("cpu", {1, 1}, 4);
  train("cpu, gpu", {1, 1}, 3);
  compute_on_gpu("f32");
  train("cpu, gpu", {1, 2}, 4);
  expect_gpu_was_used();
  train("gpu", {1, 1}, 4);
  train("gpu, cpu", {2, 1}, 3);
  arguments_ = on_cpu;
  train("gpu, cpu", {1, 1}, 4);
  expect_close("cpu, gpu", "cpu");
  expect_close("gpu, cpu", "gpu");
}

}  // namespace convoy::test
