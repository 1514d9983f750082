/// The contract of dropout: Srivastava et al. 2014, scaled in training so that evaluation changes nothing; also of
/// whole samples at once (stochastic depth, Huang et al. 2016).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "convoy/base/data_type.h"

namespace convoy::ops {

/// What random numbers are drawn for that an operation draws while it computes: nobody stores them, who needs them
/// again draws them again. Of one micro-batch; in memory that the device reads, so that recorded work draws anew in
/// each step.
struct DrawKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t micro_batch = 0;  ///< its index in the step, counted over all replicas; below 2^32
};

inline constexpr int kDrawsOfBlock = 8;  ///< of four random words: 16 bits each

/// Of 16 random bits as a number, how many of its 65536 values drop: the share p in [0, 1) to the nearest.
inline std::uint32_t drop_threshold(float p) {
  return static_cast<std::uint32_t>(std::min(std::lround(static_cast<double>(p) * 0x1p16), 0xffffL));
}
/// What is kept is multiplied by this, so that the mean stays: 1 / (1 - the share that is dropped).
inline float drop_scale(float p) {
  return static_cast<float>(0x1p16 / (0x1p16 - drop_threshold(p)));
}

struct DropoutSpec {
  std::int64_t count = 0;              ///< values of x, at most 2^35
  float p = 0;                         ///< the share that is dropped, in [0, 1)
  std::uint64_t layer = 0;             ///< a number that no other layer of the network has
  DataType type = DataType::kFloat32;  ///< of x, y, dx, dy
  std::int64_t values_per_draw = 1;    ///< neighbours that are kept or dropped together; divides count

  std::uint32_t threshold() const { return drop_threshold(p); }
  float scale() const { return drop_scale(p); }
};

/// y[i] = scale * x[i] where draw i / values_per_draw is at least the threshold, elsewhere 0; rounded to float32, then
/// to spec.type. Draw i, 16 bits, is one of the eight halves of words of Philox4x32-10, i % 8 with each word's low half
/// first, of
///   the key      seed ^ layer                   two words, the low one first
///   the counter  i / 8, micro_batch, step       one word, one word, two words with the low one first
/// So all devices have the same bits. Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC
/// 2011.
class DropoutOp {
 public:
  using Spec = DropoutSpec;
  static constexpr const char* kName = "dropout";

  virtual ~DropoutOp() = default;

  /// Forward: y of x. Backward: dx of dy, by the same factors. `key` in device memory; y may be x.
  virtual void run(const DrawKey* key, const void* x, void* y) = 0;
  /// y = residual + dropout(x), the sum after a Transformer's dropout in one pass: the bits of run(key, x, y) and then
  /// ElementwiseOps::add of the residual. y may be x or the residual.
  virtual void run_and_add(const DrawKey* key, const void* x, const void* residual, void* y) = 0;
  /// y = dropout(max(0, x)), a Transformer's activation and dropout in one pass: the bits of ActivationOp and then
  /// run(key, x, y). y may be x.
  virtual void relu_and_run(const DrawKey* key, const void* x, void* y) = 0;
  /// dx = scale * dy where y is above 0, elsewhere 0, of the y that relu_and_run has written, which tells what was
  /// dropped: the bits of run(key, dy, dx) and then ActivationOp's. dx may be dy.
  virtual void backward_of_relu(const void* y, const void* dy, void* dx) = 0;
};

}  // namespace convoy::ops
