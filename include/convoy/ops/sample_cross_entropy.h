/// The contract of the loss of samples with several labels each, such as masked tokens. The loss of each sample and its
/// gradient are computed by separate calls, so that logits can be computed in blocks of samples and need not be stored.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"
#include "convoy/ops/softmax_cross_entropy.h"

namespace convoy::ops {

struct SampleCrossEntropySpec {
  std::int64_t n = 0;                  ///< number of samples, N
  std::int64_t num_rows = 0;           ///< number of rows (positions to predict) of each sample, K
  std::int64_t num_classes = 0;        ///< number of classes, V
  DataType type = DataType::kFloat32;  ///< storage type of dlogits; logits and scores are float32
};

/// The loss of a sample and its number of correct predictions, as three float32.
struct SampleScore {
  float loss = 0;         ///< mean loss of the sample's rows with a label; 0 if there is none
  float num_correct = 0;  ///< number of rows whose largest logit (the first among equals) is that of the row's label
  float num_labels = 0;   ///< number of rows with a label
};

/// The cross-entropy of samples with K rows each:
/// p = softmax(z)   loss_n = -sum over the rows k with a label of log p_nk[label_nk] / num_labels_n
/// dz_nk = dloss_n / num_labels_n * (p_nk - [label_nk]); zeros for rows without a label
/// Computed in double, with the row's maximum subtracted. The rows of a sample are added in their order. A non-finite z
/// gives a non-finite loss.
class SampleCrossEntropyOp {
 public:
  using Spec = SampleCrossEntropySpec;
  static constexpr const char* kName = "cross-entropy of samples";

  virtual ~SampleCrossEntropyOp() = default;

  /// Overwrites scores (N), from logits (N,K,V) and labels (N,K), which are kNoLabel or 0..V-1 and in memory that the
  /// device reads. For another label, the CPU throws Error, and a GPU, which runs asynchronously to the host, makes the
  /// loss NaN.
  virtual void forward(const float* logits, const std::int32_t* labels, SampleScore* scores) = 0;
  /// Overwrites dlogits (N,K,V), which may be `logits` if spec.type is float32. dscores[n].loss is the gradient with
  /// respect to the loss of sample n; the other two members are not read. Call forward with the same labels before: the
  /// CPU does not check them again, and a GPU makes the gradient of a row NaN if its label is neither kNoLabel nor in
  /// 0..V-1.
  virtual void backward(const float* logits, const std::int32_t* labels, const SampleScore* dscores, void* dlogits) = 0;
};

}  // namespace convoy::ops
