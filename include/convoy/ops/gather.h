/// The contract of gathering tokens from sequences: the masked tokens, or the first ones.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

inline constexpr std::int32_t kNoPosition = -1;  ///< the position of an unused output: fewer than K tokens are gathered

struct GatherSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of tokens of each sequence, T
  std::int64_t num_taken = 0;          ///< number of tokens that are gathered from each sequence, K
  std::int64_t width = 0;              ///< number of values of a token, C
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// Gathers K tokens from each of N sequences:
/// y[n,k]  = x[n, position[n,k]]; zeros for kNoPosition      x (N,T,C)   positions (N,K)   y (N,K,C)
/// dx[n,t] = sum of dy[n,k] over the k with position[n,k] = t, in ascending order of k; zeros if there is no such k
/// A null pointer to the positions means position[n,k] = k: the first K tokens. This needs K <= T, else the calls throw
/// Error. Sums are computed in float32 and rounded once to spec.type.
class GatherOp {
 public:
  using Spec = GatherSpec;
  static constexpr const char* kName = "gather";

  virtual ~GatherOp() = default;

  /// Computes y. Each position is kNoPosition or in 0..T-1. `positions` is in memory that the device reads. For any
  /// other position, the CPU throws Error, and a GPU, which runs asynchronously to the host, makes y NaN.
  virtual void forward(const void* x, const std::int32_t* positions, void* y) = 0;
  /// Computes dx; `positions` are those that forward was given. For a position that is neither kNoPosition nor in
  /// 0..T-1, the CPU throws Error, and a GPU ignores the position.
  virtual void backward(const void* dy, const std::int32_t* positions, void* dx) = 0;
};

}  // namespace convoy::ops
