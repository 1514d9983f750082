/// The contract of taking words out of sequences: those that are to be guessed, or the first.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

inline constexpr std::int32_t kNoPosition = -1;  ///< where fewer words are taken than there is room for

struct GatherSpec {
  std::int64_t n = 0;                  ///< sequences N
  std::int64_t length = 0;             ///< T
  std::int64_t num_taken = 0;          ///< K, words of each sequence
  std::int64_t width = 0;              ///< C
  DataType type = DataType::kFloat32;  ///< of x, y, dy, dx
};

/// y[n,k]  = x[n, position[n,k]]; zeros for kNoPosition      x (N,T,C)   positions (N,K)   y (N,K,C)
/// dx[n,t] = sum of dy[n,k] over the k with position[n,k] = t, in their order; zeros where there is none
/// Without positions (null) position[n,k] = k: the first words; K <= T (else Error).
/// Sums in float32, rounded once.
class GatherOp {
 public:
  using Spec = GatherSpec;
  static constexpr const char* kName = "gather";

  virtual ~GatherOp() = default;

  /// positions in memory that the device reads: kNoPosition or 0..T-1. Of another one the CPU throws Error; where the
  /// device runs behind the host y is NaN, and backward leaves it out.
  virtual void forward(const void* x, const std::int32_t* positions, void* y) = 0;
  virtual void backward(const void* dy, const std::int32_t* positions, void* dx) = 0;
};

}  // namespace convoy::ops
