/// The contract of the last step of a loss that the network itself computes: the operation adds up the scores of a
/// micro-batch's samples and writes the gradient with which backward begins.
#pragma once

#include <cstdint>

#include "convoy/ops/sample_cross_entropy.h"

namespace convoy::ops {

struct ScoreSumsSpec {
  std::int64_t n = 0;               ///< number of samples of a micro-batch, N
  std::int64_t num_objectives = 1;  ///< number of objectives (losses) of the network, O
  float gradient_scale = 1;         ///< factor of the gradient: 1 / batch.global if the loss is a mean of samples
};

struct ScoreSumsArguments {
  const SampleScore* scores = nullptr;  ///< scores of the samples for each objective, (O,N)
  SampleScore* dscores = nullptr;       ///< gradient with respect to each score, (O,N), overwritten; null in evaluation
  float loss_scale = 1;                 ///< factor of the gradient, multiplied with spec.gradient_scale
  /// Sums for each objective, (O), overwritten, in a HostBuffer; valid after Device::synchronize().
  LossSums* sums = nullptr;
};

/// Adds up the scores of all samples for each objective, in double and in an order that depends on N alone.
/// LossSums::num_samples is the number of samples that have a label. The gradient with respect to each sample's loss is
/// loss_scale * gradient_scale; the gradients with respect to num_correct and num_labels are 0.
class ScoreSumsOp {
 public:
  using Spec = ScoreSumsSpec;
  static constexpr const char* kName = "sums of scores";

  virtual ~ScoreSumsOp() = default;

  virtual void run(const ScoreSumsArguments& args) = 0;
};

}  // namespace convoy::ops
