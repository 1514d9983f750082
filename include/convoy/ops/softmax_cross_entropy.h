/// The contract of the loss: softmax, cross-entropy and label smoothing, and the gradient, in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/data_type.h"

namespace convoy::ops {

/// The label of a row that does not count: a sample that only fills up the last micro-batch, or a token that is not to
/// be predicted.
inline constexpr std::int32_t kNoLabel = -1;

struct SoftmaxCrossEntropySpec {
  std::int64_t n = 0;  ///< number of rows of a micro-batch, N: its samples, or some of their tokens
  std::int64_t num_classes = 0;
  float label_smoothing = 0;  ///< share s: the target is 1 - s + s/classes for the label, s/classes for other classes
  float gradient_scale = 1;   ///< factor of the gradient: 1 / batch.global if the loss is a mean of samples
  DataType type = DataType::kFloat32;     ///< storage type of dlogits; logits are float32
  std::vector<float> class_weights = {};  ///< (classes) weights w of the classes, finite and >= 0; empty: all 1
};

/// The second label of a row that was mixed from two samples (Mixup, CutMix).
struct MixedLabel {
  std::int32_t label = 0;  ///< 0..classes-1 if the row's first label is not kNoLabel
  float share = 0;         ///< share of this label in the target, in [0, 1]; the row's first label has 1 - share
};

/// The sums over the samples of one micro-batch for one objective, added in a fixed order. The step's loss is the sum
/// over its micro-batches in their order, divided by the number of samples with a label. For SoftmaxCrossEntropyOp a
/// sample is a row, and has at most one label.
struct LossSums {
  double loss = 0;  ///< sum of the samples' losses, without loss_scale
  /// Number of labels that have the largest logit (the first among equals). Of a mixed row's two labels, only the one
  /// with the larger share counts (the first if equal).
  std::int64_t num_correct = 0;
  std::int64_t num_labels = 0;   ///< number of labels of all samples, correct or not
  std::int64_t num_samples = 0;  ///< number of samples with a label
};

struct LossArguments {
  const float* logits = nullptr;         ///< logits, (N,classes)
  const std::int32_t* labels = nullptr;  ///< label of each row, kNoLabel or 0..classes-1, (N) in a HostBuffer
  /// Second label of each row, (N) in a HostBuffer; null: no row has two labels.
  const MixedLabel* mixed_labels = nullptr;
  /// Gradient with respect to the logits, (N,classes), overwritten, zeros for rows with kNoLabel; null in evaluation.
  void* dlogits = nullptr;
  /// Factor of the gradient, multiplied with spec.gradient_scale, so that 16-bit gradients do not underflow.
  float loss_scale = 1;
  /// Sums over the micro-batch, overwritten, in a HostBuffer; valid after Device::synchronize().
  LossSums* sums = nullptr;
};

/// The softmax cross-entropy and its gradient:
/// p = softmax(z)   loss_n = -sum_k w_k target_nk log p_nk
/// dz = loss_scale * gradient_scale * (p sum_k w_k target_nk - w target)
/// The definition is that of torch.nn.functional.cross_entropy, except that class weights do not change the divisor of
/// the mean over samples. The row's maximum is subtracted first, so the loss is finite for any finite z. A non-finite z
/// gives a non-finite loss.
class SoftmaxCrossEntropyOp {
 public:
  using Spec = SoftmaxCrossEntropySpec;
  static constexpr const char* kName = "softmax cross-entropy";

  virtual ~SoftmaxCrossEntropyOp() = default;

  /// Computes the sums and the gradient. For a label other than kNoLabel and 0..classes-1, the CPU throws Error, and a
  /// GPU, which runs asynchronously to the host, makes the loss and the row's gradient NaN.
  virtual void run(const LossArguments& args) = 0;
};

}  // namespace convoy::ops
