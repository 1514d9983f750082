/// The contract of one vector that meets every row of a matrix: a bias, positions, or a scale by channel (LayerScale,
/// Touvron et al. 2021, "Going deeper with image transformers", section 2).
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

enum class BroadcastKind { kAdd, kMultiply };

struct BroadcastSpec {
  std::int64_t num_rows = 0;     ///< R
  std::int64_t num_columns = 0;  ///< C
  BroadcastKind kind = BroadcastKind::kAdd;
  DataType type = DataType::kFloat32;  ///< of x, y, dy, dx
};

struct BroadcastBackward {
  const void* dy = nullptr;  ///< (R,C)
  const void* x = nullptr;   ///< (R,C); only kMultiply reads it
  const float* v = nullptr;  ///< (C); likewise
  void* dx = nullptr;        ///< (R,C) overwritten; may be dy. Null: not wanted. Of kAdd always null: dx is dy
  float* dv = nullptr;       ///< (C) overwritten; null: not wanted
};

/// kAdd         y[r,c] = x[r,c] + v[c]     dv[c] = sum over rows of dy[r,c]
/// kMultiply    y[r,c] = v[c] * x[r,c]     dv[c] = sum over rows of dy[r,c] * x[r,c]     dx[r,c] = v[c] * dy[r,c]
/// Sums go in blocks of rows that follow from the shape, so that no bit depends on the number of threads. y and dx are
/// computed in float32 and rounded once to spec.type.
class BroadcastOp {
 public:
  using Spec = BroadcastSpec;
  static constexpr const char* kName = "broadcast";

  virtual ~BroadcastOp() = default;

  /// x, y (R,C); v (C). y may be x.
  virtual void forward(const void* x, const float* v, void* y) = 0;
  virtual void backward(const BroadcastBackward& args) = 0;
};

}  // namespace convoy::ops
