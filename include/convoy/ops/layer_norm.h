/// The contract of normalisations whose statistics belong to one sample, or to one word or pixel of it: layer norm (Ba,
/// Kiros, Hinton 2016), RMS norm (Zhang, Sennrich 2019) and group norm (Wu, He 2018).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

/// x is (R,P,C). Each row's values in a group of C / G neighbouring columns, P C / G of them, are normalised together:
///   layer norm    a row for each word or pixel    P = 1    G = 1
///   RMS norm      a row for each word or pixel    P = 1    G = 1    is_centred = false
///   group norm    a row for each sample           P pixels of a sample
struct LayerNormSpec {
  std::int64_t num_rows = 0;           ///< number of rows, R
  std::int64_t width = 0;              ///< number of columns, C
  float epsilon = 1e-5f;               ///< added to the variance
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
  std::int64_t num_pixels = 1;         ///< P
  std::int64_t num_groups = 1;         ///< G, which divides C
  /// False: the mean is taken as 0, so that the variance is the mean of x^2, and there is no beta; only with P = G = 1.
  bool is_centred = true;

  bool has_one_group() const { return num_pixels == 1 && num_groups == 1; }
  std::int64_t num_statistics() const { return num_rows * num_groups; }
};

/// mean, beta and dbeta are null if spec.is_centred is false.
struct LayerNormForward {
  const void* x = nullptr;       ///< input, (R,P,C)
  const float* gamma = nullptr;  ///< scale of each column, (C)
  const float* beta = nullptr;   ///< shift of each column, (C)
  void* y = nullptr;             ///< output, (R,P,C), overwritten; may be x
  float* mean = nullptr;         ///< (R,G) overwritten by the means; backward reads it
  float* inv_std = nullptr;      ///< (R,G) overwritten by 1 / sqrt(variance + epsilon); backward reads it
};

struct LayerNormBackward {
  const void* dy = nullptr;
  const void* x = nullptr;
  const float* gamma = nullptr;
  const float* mean = nullptr;
  const float* inv_std = nullptr;
  void* dx = nullptr;  ///< gradient with respect to x, (R,P,C), overwritten; may be dy
  /// (R,P,C) added to dx: the gradient with respect to x from other layers that read x; may be dx; null: nothing is
  /// added.
  const void* addend = nullptr;
  /// Gradient with respect to gamma, (C), overwritten; null if dgamma and dbeta are not wanted.
  float* dgamma = nullptr;
  float* dbeta = nullptr;  ///< gradient with respect to beta, (C), overwritten; null if dgamma is null
};

/// Normalisation with the mean and the (biased) variance of each row and group:
/// h = (x - mean) * inv_std    y = gamma * h + beta
/// g = gamma * dy    dx = inv_std * (g - mean(g) - h * mean(g * h)) [+ addend]    without mean(g) if not centred
/// dgamma = sum over rows and pixels of dy * h    dbeta = sum over rows and pixels of dy
/// The variance is the mean of (x - mean)^2: it loses no digits if the mean is far from 0. Sums over rows and pixels
/// are computed in blocks that follow from the shape, so that no bit depends on the number of threads; mean, inv_std, y
/// and dx of a row do not depend on the number of rows. Computed in float32 or better, rounded once to spec.type.
class LayerNormOp {
 public:
  using Spec = LayerNormSpec;
  static constexpr const char* kName = "layer norm";

  virtual ~LayerNormOp() = default;

  virtual void forward(const LayerNormForward& args) = 0;
  virtual void backward(const LayerNormBackward& args) = 0;
};

}  // namespace convoy::ops
