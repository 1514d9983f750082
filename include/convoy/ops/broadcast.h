/// The contract of vectors that are added to the rows of a matrix, or multiply them: a bias, positions, a scale per
/// channel (LayerScale, Touvron et al. 2021, "Going deeper with image transformers", section 2), a scale per channel of
/// each sample (Hu et al. 2017, "Squeeze-and-excitation networks"), or the product of two matrices value by value.
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
  /// Number of vectors, S, which divides R. Vector s belongs to the rows s R / S, ..., (s + 1) R / S - 1.
  std::int64_t num_vectors = 1;
  DataType vector_type = DataType::kFloat32;  ///< storage type of v and dv: float32 or `type`
};

struct BroadcastBackward {
  const void* dy = nullptr;  ///< gradient with respect to y, (R,C)
  const void* x = nullptr;   ///< matrix of forward, (R,C); only kMultiply reads it
  const void* v = nullptr;   ///< vectors of forward, (S,C); only kMultiply reads them
  /// Gradient with respect to x, (R,C), overwritten; may be dy. Null if not wanted; always null with kAdd, whose dx
  /// equals dy.
  void* dx = nullptr;
  void* dv = nullptr;  ///< gradient with respect to v, (S,C), overwritten; null if not wanted
};

/// Adds its vector v[s] to each row of x, or multiplies the row by it:
/// kAdd         y[r,c] = x[r,c] + v[s,c]     dv[s,c] = sum over the rows of s of dy[r,c]
/// kMultiply    y[r,c] = v[s,c] * x[r,c]     dv[s,c] = sum over the rows of s of dy[r,c] * x[r,c]
///              dx[r,c] = v[s,c] * dy[r,c]
/// Sums are computed in blocks of rows that follow from R / S and C, so that no bit depends on the number of threads or
/// of vectors. All results are computed in float32 or better and rounded once to their type.
class BroadcastOp {
 public:
  using Spec = BroadcastSpec;
  static constexpr const char* kName = "broadcast";

  virtual ~BroadcastOp() = default;

  /// Computes y (R,C) of x (R,C) and v (S,C). y may be x.
  virtual void forward(const void* x, const void* v, void* y) = 0;
  virtual void backward(const BroadcastBackward& args) = 0;
};

}  // namespace convoy::ops
