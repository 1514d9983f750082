/// The contract of the last step of a loss that the network computes itself: the scores of a micro-batch's samples are
/// added up, and the gradient begins.
#pragma once

#include <cstdint>

#include "convoy/ops/sample_cross_entropy.h"

namespace convoy::ops {

struct ScoreSumsSpec {
  std::int64_t n = 0;               ///< samples N of a micro-batch
  std::int64_t num_objectives = 1;  ///< O
  float gradient_scale = 1;         ///< 1 / batch.global, where the step's loss is the mean over all its samples
};

struct ScoreSumsArguments {
  const SampleScore* scores = nullptr;  ///< (O,N)
  SampleScore* dscores = nullptr;       ///< (O,N) overwritten; null in evaluation
  float loss_scale = 1;                 ///< of the gradient, beside spec.gradient_scale
  LossSums* sums = nullptr;             ///< (O) in a HostBuffer; valid after Device::synchronize()
};

/// For each objective: sums.loss = sum of the losses of all samples, in double, in an order that N alone decides;
/// num_samples are those with a label. The gradient with respect to each loss is loss_scale * gradient_scale, with
/// respect to the counts 0.
class ScoreSumsOp {
 public:
  using Spec = ScoreSumsSpec;
  static constexpr const char* kName = "sums of scores";

  virtual ~ScoreSumsOp() = default;

  virtual void run(const ScoreSumsArguments& args) = 0;
};

}  // namespace convoy::ops
