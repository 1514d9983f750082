/// The contract of layer normalisation: Ba, Kiros, Hinton 2016, "Layer normalization".
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct LayerNormSpec {
  std::int64_t num_rows = 0;           ///< number of rows, R; each row is normalised by its own mean and variance
  std::int64_t width = 0;              ///< number of values of a row, C
  float epsilon = 1e-5f;               ///< added to the variance
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

struct LayerNormForward {
  const void* x = nullptr;       ///< input, (R,C)
  const float* gamma = nullptr;  ///< scale of each column, (C)
  const float* beta = nullptr;   ///< shift of each column, (C)
  void* y = nullptr;             ///< output, (R,C), overwritten; may be x
  float* mean = nullptr;         ///< (R) overwritten by the mean of each row; backward reads it
  float* inv_std = nullptr;      ///< (R) overwritten by 1 / sqrt(variance + epsilon); backward reads it
};

struct LayerNormBackward {
  const void* dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  void* dx = nullptr;  ///< gradient with respect to x, (R,C), overwritten; may be dy
  /// (R,C) added to dx: the gradient with respect to x from other layers that read x; may be dx; null: nothing is
  /// added.
  const void* addend = nullptr;
  /// Gradient with respect to gamma, (C), overwritten; null if dgamma and dbeta are not wanted.
  float* dgamma = nullptr;
  float* dbeta = nullptr;  ///< gradient with respect to beta, (C), overwritten; null if dgamma is null
};

/// Layer normalisation, with the mean and the (biased) variance of each row:
/// h = (x - mean) * inv_std    y = gamma * h + beta
/// g = gamma * dy    dx = inv_std * (g - mean_C(g) - h * mean_C(g * h)) [+ addend]
/// dgamma = sum over rows of dy * h    dbeta = sum over rows of dy
/// The variance is the mean of (x - mean)^2: it loses no digits if the mean is far from 0. Sums over rows are computed
/// in blocks that follow from the shape, so that no bit depends on the number of threads. Computed in float32, rounded
/// once to spec.type.
class LayerNormOp {
 public:
  using Spec = LayerNormSpec;
  static constexpr const char* kName = "layer norm";

  virtual ~LayerNormOp() = default;

  virtual void forward(const LayerNormForward& args) = 0;
  virtual void backward(const LayerNormBackward& args) = 0;
};

}  // namespace convoy::ops
