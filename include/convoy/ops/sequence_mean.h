/// The contract of the mean over the words that a sequence has.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

struct SequenceMeanSpec {
  std::int64_t n = 0;                  ///< sequences N
  std::int64_t length = 0;             ///< T
  std::int64_t width = 0;              ///< C
  DataType type = DataType::kFloat32;  ///< of x, y, dy, dx
};

/// y[n]    = sum over t < length[n] of x[n,t] / length[n]      x (N,T,C)   lengths (N)   y (N,C)
/// dx[n,t] = dy[n] / length[n] for t < length[n], else 0
/// A length is taken as the nearest of 1..T. Sums in float32, in an order that the length alone decides, rounded once.
class SequenceMeanOp {
 public:
  using Spec = SequenceMeanSpec;
  static constexpr const char* kName = "mean over a sequence";

  virtual ~SequenceMeanOp() = default;

  /// lengths in memory that the device reads.
  virtual void forward(const void* x, const std::int32_t* lengths, void* y) = 0;
  virtual void backward(const void* dy, const std::int32_t* lengths, void* dx) = 0;
};

}  // namespace convoy::ops
