/// The contract of the loss: softmax, cross-entropy, label smoothing and its gradient in one pass.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/data_type.h"

namespace convoy::ops {

/// Of a row that counts for nothing: a sample that only fills up the last micro-batch, a word that is not to be
/// guessed.
inline constexpr std::int32_t kNoLabel = -1;

struct SoftmaxCrossEntropySpec {
  std::int64_t n = 0;  ///< rows N of a micro-batch: its samples, or some of their words
  std::int64_t num_classes = 0;
  float label_smoothing = 0;              ///< s: the target is 1 - s + s/classes for the label, s/classes elsewhere
  float gradient_scale = 1;               ///< 1 / batch.global, where the step's loss is the mean over all its samples
  DataType type = DataType::kFloat32;     ///< of dlogits; logits are float32
  std::vector<float> class_weights = {};  ///< w (classes), >= 0 and finite; empty: 1
};

/// The second label of a row, where two samples were mixed.
struct MixedLabel {
  std::int32_t label = 0;  ///< 0..classes-1, wherever the first label is one
  float share = 0;         ///< in [0, 1]: the target is 1 - share of the first label's and share of this one's
};

/// Of one micro-batch and one objective, over its samples in their order. The step's loss is their sum in the order of
/// the micro-batches, divided by the samples with a label. Here a sample is a row, and has one label at most.
struct LossSums {
  double loss = 0;               ///< sum over samples
  std::int64_t num_correct = 0;  ///< labels that have the largest logit (the first among equals); of two labels of a
                                 ///< row the one with the larger share, the first among equals, is asked for
  std::int64_t num_labels = 0;   ///< of all samples: what num_correct is a part of
  std::int64_t num_samples = 0;  ///< with a label
};

struct LossArguments {
  const float* logits = nullptr;             ///< (N,classes)
  const std::int32_t* labels = nullptr;      ///< (N) in a HostBuffer, kNoLabel or 0..classes-1
  const MixedLabel* mixed_labels = nullptr;  ///< (N) in a HostBuffer; null: no row has two labels
  void* dlogits = nullptr;                   ///< (N,classes) overwritten, zeros for kNoLabel rows; null in evaluation
  float loss_scale = 1;      ///< of the gradient, beside spec.gradient_scale: keeps 16-bit gradients normal
  LossSums* sums = nullptr;  ///< in a HostBuffer; valid after Device::synchronize()
};

/// p = softmax(z)   loss_n = -sum_k w_k target_nk log p_nk
/// dz = loss_scale * gradient_scale * (p sum_k w_k target_nk - w target)
/// As torch.nn.functional.cross_entropy has it, but that the mean over samples stays a mean over samples.
/// Computed with the row's maximum subtracted; finite for any finite z. A non-finite z gives a non-finite loss.
class SoftmaxCrossEntropyOp {
 public:
  using Spec = SoftmaxCrossEntropySpec;
  static constexpr const char* kName = "softmax cross-entropy";

  virtual ~SoftmaxCrossEntropyOp() = default;

  virtual void run(const LossArguments& args) = 0;
};

}  // namespace convoy::ops
