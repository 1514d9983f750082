/// The contract of a vector that is added to every row of a matrix, or multiplies it: a bias, positions, or a scale per
/// channel (LayerScale, Touvron et al. 2021, "Going deeper with image transformers", section 2).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

enum class BroadcastKind { kAdd, kMultiply };

struct BroadcastSpec {
  std::int64_t num_rows = 0;     ///< number of rows, R
  std::int64_t num_columns = 0;  ///< number of columns, C
  BroadcastKind kind = BroadcastKind::kAdd;
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

struct BroadcastBackward {
  const void* dy = nullptr;  ///< gradient with respect to y, (R,C)
  const void* x = nullptr;   ///< matrix of forward, (R,C); only kMultiply reads it
  const float* v = nullptr;  ///< vector of forward, (C); only kMultiply reads it
  /// Gradient with respect to x, (R,C), overwritten; may be dy. Null if not wanted; always null with kAdd, whose dx
  /// equals dy.
  void* dx = nullptr;
  float* dv = nullptr;  ///< gradient with respect to v, (C), overwritten; null if not wanted
};

/// Adds a vector v to every row of x, or multiplies every row by it:
/// kAdd         y[r,c] = x[r,c] + v[c]     dv[c] = sum over rows of dy[r,c]
/// kMultiply    y[r,c] = v[c] * x[r,c]     dv[c] = sum over rows of dy[r,c] * x[r,c]     dx[r,c] = v[c] * dy[r,c]
/// Sums are computed in blocks of rows that follow from the shape, so that no bit depends on the number of threads. y
/// and dx are computed in float32 and rounded once to spec.type.
class BroadcastOp {
 public:
  using Spec = BroadcastSpec;
  static constexpr const char* kName = "broadcast";

  virtual ~BroadcastOp() = default;

  /// Computes y (R,C) of x (R,C) and v (C). y may be x.
  virtual void forward(const void* x, const float* v, void* y) = 0;
  virtual void backward(const BroadcastBackward& args) = 0;
};

}  // namespace convoy::ops
