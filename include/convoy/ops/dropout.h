/// The contract of dropout (Srivastava et al. 2014). Values are scaled during training, so that evaluation needs no
/// change. It can also drop whole samples at once (stochastic depth, Huang et al. 2016).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

/// The key of the random numbers of one micro-batch. The numbers are not stored: backward generates them again from the
/// key. The key is in memory that the device reads, so that a CUDA graph uses new numbers in each step.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t micro_batch = 0;  ///< index of the micro-batch in the step, counted over all replicas; below 2^32
};

/// Number of 16-bit random numbers in one block of Philox4x32-10 (four 32-bit numbers).
inline constexpr int kDrawsOfBlock = 8;

/// The threshold of dropout: 65536 p, rounded to the nearest integer, at most 65535. A value is dropped if its 16-bit
/// random number is below the threshold. p is the share of values that are dropped, in [0, 1).
inline std::uint32_t drop_threshold(float p) {
  return static_cast<std::uint32_t>(std::min(std::lround(static_cast<double>(p) * 0x1p16), 0xffffL));
}
/// The factor by which dropout multiplies the values that it keeps, so that their mean does not change: 1 / (1 - p),
/// with p rounded as in drop_threshold().
inline float drop_scale(float p) {
  return static_cast<float>(0x1p16 / (0x1p16 - drop_threshold(p)));
}

struct DropoutSpec {
  std::int64_t count = 0;   ///< number of values of x, at most 2^35
  float p = 0;              ///< share of values that are dropped, in [0, 1)
  std::uint64_t layer = 0;  ///< identity of this layer, unique in the network; the random numbers depend on it
  DataType type = DataType::kFloat32;  ///< storage type of x, y, dx and dy
  std::int64_t values_per_draw = 1;  ///< number of neighbouring values that are kept or dropped together; divides count

  std::uint32_t threshold() const { return drop_threshold(p); }
  float scale() const { return drop_scale(p); }
};

/// Dropout: y[i] = scale * x[i] if random number i / values_per_draw is at least the threshold, else 0; rounded to
/// float32, then to spec.type. Random number i has 16 bits: it is half i % 8 of the four 32-bit outputs of
/// Philox4x32-10, the low half of each output first, with
///   the key      seed ^ layer                   two 32-bit numbers, the low one first
///   the counter  i / 8, micro_batch, step       one, one and two 32-bit numbers, of the two the low one first
/// So all devices give the same bits. Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011.
class DropoutOp {
 public:
  using Spec = DropoutSpec;
  static constexpr const char* kName = "dropout";

  virtual ~DropoutOp() = default;

  /// Computes y from x; in backward, called with dy and dx instead, it applies the same factors. `key` is in device
  /// memory; y may be x.
  virtual void run(const DrawKey* key, const void* x, void* y) = 0;
  /// Computes y = residual + dropout(x) in one pass: the sum after a Transformer's dropout. Gives the bits of
  /// run(key, x, y) and then ElementwiseOps::add of the residual. y may be x or the residual.
  virtual void run_and_add(const DrawKey* key, const void* x, const void* residual, void* y) = 0;
  /// Computes y = dropout(max(0, x)) in one pass: a Transformer's activation and dropout. Gives the bits of
  /// ActivationOp and then run(key, x, y). y may be x.
  virtual void relu_and_run(const DrawKey* key, const void* x, void* y) = 0;
  /// Computes dx = scale * dy if y is above 0, else 0. y is what relu_and_run wrote; it tells which values were
  /// dropped. Gives the bits of run(key, dy, dx) and then ActivationOp's backward. dx may be dy.
  virtual void backward_of_relu(const void* y, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
