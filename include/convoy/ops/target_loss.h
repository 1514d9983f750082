/// The contract of losses that compare the outputs of a network with targets: numbers, or several labels of a sample.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/data_type.h"
#include "convoy/ops/sample_cross_entropy.h"

namespace convoy::ops {

enum class TargetLossKind { kBinaryCrossEntropy, kSquaredError, kAbsoluteError, kHuberError };

struct TargetLossSpec {
  std::int64_t n = 0;            ///< number of samples, N
  std::int64_t num_pixels = 1;   ///< number of pixels of a sample, L
  std::int64_t num_outputs = 0;  ///< number of outputs at each pixel, K; L K <= kMaxTargets
  TargetLossKind kind = TargetLossKind::kSquaredError;
  float huber_delta = 1;               ///< largest |d| whose Huber error is d^2 / 2; more than 0
  DataType type = DataType::kFloat32;  ///< storage type of doutputs; outputs, targets and scores are float32
  /// (K) Targets are compared as t' = (t - mean) / stddev; a stddev of 0 counts as 1. Both empty: t' = t.
  std::vector<double> mean = {}, stddev = {};
  std::vector<float> weights = {};  ///< (K) weights w of the outputs, finite and >= 0; empty: all 1
};

/// The largest number of targets of a sample: SampleScore counts them in float32.
inline constexpr std::int64_t kMaxTargets = 1 << 24;

/// The mean error of a sample's outputs y, over its c_n targets that are known; a target that is NaN is not.
/// With d = y - t':
///   loss_n = sum_lk f / c_n    dy = dloss_n f' / c_n;  0 if the target is not known
///   squared error         f = w d^2                                  f' = 2 w d
///   absolute error        f = w |d|                                  f' = w sign(d), 0 for d = 0
///   Huber error           f = w d^2 / 2                              f' = w d                 if |d| <= delta
///                         f = w delta (|d| - delta / 2)              f' = w delta sign(d)     if |d| > delta
///   binary cross-entropy  f = w t' log(1 + e^-y) + (1 - t') log(1 + e^y)
///                         f' = (1 - t') s(y) - w t' s(-y)            with s(y) = 1 / (1 + e^-y)
/// In binary cross-entropy, t' is a probability, and w the weight of samples that have the label.
/// If no target is missing, the mean of loss_n over the samples is mse_loss, l1_loss, huber_loss (with weights 1) or
/// binary_cross_entropy_with_logits (pos_weight = w) of torch.nn.functional. Computed in double. A sample's values are
/// added in an order that depends on L K alone. A non-finite output gives a non-finite loss, unless its target is not
/// known.
class TargetLossOp {
 public:
  using Spec = TargetLossSpec;
  static constexpr const char* kName = "loss of targets";

  virtual ~TargetLossOp() = default;

  /// Overwrites scores (N), from outputs and targets (N,L,K). A sample's num_labels is c_n; if it is 0, the loss is 0.
  /// num_correct is the number of labels that are right: y > 0 if t' > 1/2, else not. It is 0 for errors of numbers.
  virtual void forward(const float* outputs, const float* targets, SampleScore* scores) = 0;
  /// Overwrites doutputs (N,L,K), which may be `outputs` if spec.type is float32. `scores` are those of forward, and
  /// dscores[n].loss is the gradient with respect to the loss of sample n; the other two members are not read.
  virtual void backward(const float* outputs, const float* targets, const SampleScore* scores,
                        const SampleScore* dscores, void* doutputs) = 0;
};

}  // namespace convoy::ops
