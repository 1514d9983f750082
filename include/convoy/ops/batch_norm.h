/// The contract of batch normalisation, with the sum and the ReLU that follow it in a ResNet, or with the ReLU and the
/// max pooling of its stem. The sum adds a tensor, or a second normalised branch: a block that changes the shape
/// normalises its shortcut, too. What one operation computes in between is not stored.
#pragma once

#include <cstdint>
#include <optional>

#include "convoy/base/data_type.h"
#include "convoy/base/shape.h"
#include "convoy/ops/pooling.h"

namespace convoy::ops {

struct BatchNormSpec {
  static constexpr std::int64_t kChannelGroup = 64;

  Shape x;                             ///< shape of the x of each branch, (N,H,W,C)
  bool relu = false;                   ///< a ReLU follows: y = max(0, ...)
  bool residual = false;               ///< a tensor is added before the ReLU; only with one branch
  int num_branches = 1;                ///< 1, or 2 for the sum of two normalised branches, which a ReLU must follow
  float epsilon = 1e-5f;               ///< added to the variances
  DataType type = DataType::kFloat32;  ///< storage type of (N,H,W,C) tensors; (C) tensors are float32

  /// A max pooling follows the ReLU, with this x and type; only with one branch and without a residual. can_pool() says
  /// which poolings are supported. For others, the caller runs MaxPoolOp after this operation.
  std::optional<PoolingSpec> pooling = {};

  const char* name() const {
    if (pooling) return "batch normalisation and max pooling";
    return num_branches > 1 ? "two batch normalisations" : "batch normalisation";
  }
  Shape y() const { return pooling ? pooling->y() : x; }  ///< shape of y: (N,H,W,C), or (N,P,Q,C) with a pooling
  /// Whether forward stores the mask of the ReLU for backward. If nothing is added before the ReLU, backward computes
  /// the mask from x.
  bool stores_mask() const { return relu && (residual || num_branches > 1); }
  /// C is a multiple of kChannelGroup, and along each axis at most two windows cover a pixel.
  static bool can_pool(const PoolingSpec& spec) {
    return spec.x.c % kChannelGroup == 0 && spec.kernel <= 2 * spec.stride;
  }
};

/// The size in bytes of the mask that batch normalisation's forward writes for backward: it tells which values of y,
/// stored as `type`, are positive after the ReLU. One byte covers a group of neighbouring values: as many as fit into
/// 16 bytes if that number divides C, else 4 if 4 divides C, else 1. A device may pack the bits in any way that fits
/// into this size.
inline std::int64_t relu_mask_bytes(const Shape& y, DataType type) {
  const std::int64_t widest = 16 / size_of(type), width = y.c % widest == 0 ? widest : y.c % 4 == 0 ? 4 : 1;
  return y.count() / width;
}

/// The arguments of forward(), forward_again() and infer().
struct BatchNormForward {
  struct Branch {
    const void* x = nullptr;       ///< input, (N,H,W,C)
    const float* gamma = nullptr;  ///< scale of each channel, (C)
    const float* beta = nullptr;   ///< shift of each channel, (C)

    // The statistics of this micro-batch, each (C). forward() writes them, forward_again() reads mean and inv_std, and
    // infer() does not use them.
    float* mean = nullptr;     ///< means of the N*H*W values
    float* inv_std = nullptr;  ///< 1 / sqrt(biased variance + epsilon)
    /// Unbiased variances for the running statistics: sum of squared deviations from the mean / max(1, N*H*W - 1).
    float* var_unbiased = nullptr;

    // The running statistics, each (C), which only infer() reads.
    const float* running_mean = nullptr;
    const float* running_var = nullptr;
  };
  Branch branches[2];              ///< the first spec.num_branches of them
  const void* residual = nullptr;  ///< (N,H,W,C), added before the ReLU; only with spec.residual
  void* y = nullptr;               ///< output, of the shape spec.y(), overwritten
  /// A mask of relu_mask_bytes(y, type) bytes that tells which values of y are positive. forward() writes it if
  /// spec.stores_mask(); backward() reads it.
  std::uint8_t* mask = nullptr;
  /// (N,P,Q,C), overwritten with spec.pooling: index of the maximum in its window, as in MaxPoolOp, or kNoWinner if the
  /// maximum is not positive: the ReLU then lets no gradient through. So backward needs neither y nor the ReLU's input.
  std::uint8_t* winner = nullptr;
};

/// The arguments of backward() and infer_backward(). infer_backward() needs no x: with fixed statistics, batch
/// normalisation multiplies each channel by a constant.
struct BatchNormBackward {
  struct Branch {
    const void* x = nullptr;  ///< the x of forward(); infer_backward() does not read it
    const float* gamma = nullptr;
    const float* beta = nullptr;  ///< infer_backward() does not read it

    // The statistics that forward() wrote; only backward() reads them.
    const float* mean = nullptr;
    const float* inv_std = nullptr;
    const float* var_unbiased = nullptr;

    const float* running_var = nullptr;  ///< only infer_backward() reads it

    /// Gradient with respect to x, (N,H,W,C), overwritten; may be dy or dy_addend if there is no pooling, never the
    /// other branch's dx.
    void* dx = nullptr;

    // Gradients of the parameters, each (C), which backward() overwrites.
    float* dgamma = nullptr;
    float* dbeta = nullptr;          ///< the same values in both branches
    float* drunning_mean = nullptr;  ///< the micro-batch's means, as the "gradient" of the running mean
    float* drunning_var = nullptr;   ///< the micro-batch's var_unbiased, as the "gradient" of the running variance
  };
  Branch branches[2];        ///< the first spec.num_branches of them
  const void* dy = nullptr;  ///< gradient with respect to y, of the shape spec.y()
  /// Second part of dy, (N,H,W,C), only with spec.residual or two branches: it is added to dy first, and the sum is
  /// rounded to spec.type. Null: dy is the whole gradient.
  const void* dy_addend = nullptr;
  const std::uint8_t* mask = nullptr;    ///< the mask that forward() wrote; backward() reads it if spec.stores_mask()
  const std::uint8_t* winner = nullptr;  ///< the winners that forward() or infer() wrote; only with spec.pooling
  /// The y of infer(); its positive values are those whose gradient the ReLU lets through. Only infer_backward() reads
  /// it, and only with spec.relu and without a pooling.
  const void* y = nullptr;
  /// Gradient with respect to the residual, (N,H,W,C), only with spec.residual. Overwritten by dy, or by 0 where the
  /// ReLU's output is 0. May be dy or dy_addend (then dx is neither of them), never dx.
  void* dresidual = nullptr;
};

/// Batch normalisation, bn(x) = gamma * (x - mean) / sqrt(var + epsilon) + beta, and what follows it:
///   y = relu(bn(x) [+ residual])  or  y = relu(bn(x_0) + bn(x_1))  or  y = max_pool(relu(bn(x)))
/// Each branch has its own gamma, beta, mean and var. Training uses the statistics of the micro-batch, inference the
/// running ones. The same inputs give the same bits, on any number of threads. The statistics are exact enough for a
/// mean of 100 with a standard deviation of 0.1 (no naive E[x^2] - E[x]^2 in float32).
///
/// In float32, two branches have the bits of two operations, the second of which adds the result of the first as its
/// residual; in 16-bit types they differ, since bn(x_1) is not rounded before it is added. With a pooling, all results
/// have the bits of this operation without it followed by MaxPoolOp: values are rounded to spec.type before they are
/// compared, and so is the gradient of the pooling's input before it is used.
///
/// Backend::create() throws Error, naming the shape, if an extent of x is less than 1 or if the combination is not one
/// of these. Ioffe & Szegedy 2015, algorithm 1; backward from its section 3.
class BatchNormOp {
 public:
  using Spec = BatchNormSpec;
  static constexpr const char* kName = "batch normalisation";
  static constexpr std::uint8_t kNoWinner = 255;

  virtual ~BatchNormOp() = default;

  virtual void forward(const BatchNormForward& args) = 0;
  /// Computes y and winner again from the mean and inv_std that forward left. Overwrites these two alone, with the same
  /// bits.
  virtual void forward_again(const BatchNormForward& args) = 0;
  virtual void infer(const BatchNormForward& args) = 0;
  virtual void backward(const BatchNormBackward& args) = 0;
  /// The backward pass of infer(): dresidual = g, dx = g * gamma / sqrt(running_var + epsilon). g is dy if spec.relu is
  /// false or if infer's y is positive, else 0.
  virtual void infer_backward(const BatchNormBackward& args) = 0;
};

}  // namespace convoy::ops
