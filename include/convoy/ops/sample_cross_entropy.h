/// The contract of the loss of samples that have several labels each, as masked words: a loss for each sample, and the
/// gradient apart from it, so that logits can be computed in blocks of samples and need not be kept.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/softmax_cross_entropy.h"

namespace convoy::ops {

struct SampleCrossEntropySpec {
  std::int64_t n = 0;                  ///< samples N
  std::int64_t num_rows = 0;           ///< K, of each sample
  std::int64_t num_classes = 0;        ///< V
  DataType type = DataType::kFloat32;  ///< of dlogits; logits and scores are float32
};

/// What a sample's rows give, as three float32.
struct SampleScore {
  float loss = 0;         ///< mean over its rows with a label; 0 where there is none
  float num_correct = 0;  ///< rows whose largest logit (the first among equals) is the label's
  float num_labels = 0;   ///< rows with a label
};

/// p = softmax(z)   loss_n = -sum over the rows k with a label of log p_nk[label_nk] / num_labels_n
/// dz_nk = dloss_n / num_labels_n * (p_nk - [label_nk]); zeros for rows without a label
/// In double, with the row's maximum subtracted; a sample's rows are added in their order. A z that is not finite gives
/// a loss that is not.
class SampleCrossEntropyOp {
 public:
  using Spec = SampleCrossEntropySpec;
  static constexpr const char* kName = "cross-entropy of samples";

  virtual ~SampleCrossEntropyOp() = default;

  /// logits (N,K,V)   labels (N,K): kNoLabel or 0..V-1, in memory that the device reads   scores (N)
  /// Of another label forward throws Error, or where the device runs behind the host makes the loss NaN; backward makes
  /// the gradient NaN.
  virtual void forward(const float* logits, const std::int32_t* labels, SampleScore* scores) = 0;
  /// dscores (N): `loss` is dloss, the other two are not read. dlogits (N,K,V) is overwritten, and may be logits where
  /// spec.type is float32.
  virtual void backward(const float* logits, const std::int32_t* labels, const SampleScore* dscores, void* dlogits) = 0;
};

}  // namespace convoy::ops
