/// The contract of the last step of a loss that the network itself computes: it adds up the scores of a micro-batch's
/// samples and writes the first gradient of backward.
#pragma once

#include <cstdint>

#include "convoy/ops/sample_cross_entropy.h"

namespace convoy::ops {

struct ScoreSumsSpec {
  std::int64_t n = 0;               ///< number of samples of a micro-batch, N
  std::int64_t num_objectives = 1;  ///< number of objectives, O
  float gradient_scale = 1;         ///< factor of the gradient: 1 / batch.global if the loss is a mean of samples
};

struct ScoreSumsArguments {
  const SampleScore* scores = nullptr;  ///< (O,N)
  SampleScore* dscores = nullptr;       ///< (O,N) overwritten; null in evaluation
  float loss_scale = 1;                 ///< factor of the gradient, in addition to spec.gradient_scale
  LossSums* sums = nullptr;             ///< (O) in a HostBuffer; valid after Device::synchronize()
};

/// Adds up the scores of all samples for each objective, in double and in an order that depends on N alone. num_samples
/// counts the samples with a label. The gradient is loss_scale * gradient_scale with respect to each loss, and 0 with
/// respect to the counts.
class ScoreSumsOp {
 public:
  using Spec = ScoreSumsSpec;
  static constexpr const char* kName = "sums of scores";

  virtual ~ScoreSumsOp() = default;

  virtual void run(const ScoreSumsArguments& args) = 0;
};

}  // namespace convoy::ops
