/// The contract of taking words out of sequences: the masked words, or the first ones.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

inline constexpr std::int32_t kNoPosition = -1;  ///< the position of an unused place: fewer than K words are taken

struct GatherSpec {
  std::int64_t n = 0;                  ///< number of sequences, N
  std::int64_t length = 0;             ///< number of words of each sequence, T
  std::int64_t num_taken = 0;          ///< number of words that are taken out of each sequence, K
  std::int64_t width = 0;              ///< number of values of a word, C
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dy and dx
};

/// Takes K words out of each of N sequences:
/// y[n,k]  = x[n, position[n,k]]; zeros for kNoPosition      x (N,T,C)   positions (N,K)   y (N,K,C)
/// dx[n,t] = sum of dy[n,k] over the k with position[n,k] = t, in their order; zeros if there is no such k
/// Null positions mean position[n,k] = k: the first words. They need K <= T, else the calls throw Error.
/// Sums are float32, rounded once.
class GatherOp {
 public:
  using Spec = GatherSpec;
  static constexpr const char* kName = "gather";

  virtual ~GatherOp() = default;

  /// Computes y. positions are kNoPosition or 0..T-1, in memory that the device reads. For another position, the CPU
  /// throws Error, and a GPU, which runs asynchronously to the host, makes y NaN.
  virtual void forward(const void* x, const std::int32_t* positions, void* y) = 0;
  /// Computes dx of the positions that forward was given. For a position that is not allowed, the CPU throws Error, and
  /// a GPU leaves the word out.
  virtual void backward(const void* dy, const std::int32_t* positions, void* dx) = 0;
};

}  // namespace convoy::ops
