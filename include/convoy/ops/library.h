/// What a device can compute: plans every operation once, so that running it allocates nothing.
#pragma once

#include <memory>

#include "convoy/device/device.h"
#include "convoy/ops/batch_norm.h"
#include "convoy/ops/convolution.h"
#include "convoy/ops/elementwise.h"
#include "convoy/ops/image_batch.h"
#include "convoy/ops/linear.h"
#include "convoy/ops/plan_cache.h"
#include "convoy/ops/pooling.h"
#include "convoy/ops/shortcut.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

namespace convoy::ops {

/// Operations of one library share its scratch memory: they run one after the other.
/// Throws Error naming the spec where the device cannot compute it.
class Library {
 public:
  virtual ~Library() = default;

  virtual Device& device() = 0;
  virtual std::unique_ptr<ConvolutionOp> convolution(const ConvolutionSpec& spec) = 0;
  virtual std::unique_ptr<BatchNormOp> batch_norm(const BatchNormSpec& spec) = 0;
  virtual std::unique_ptr<MaxPoolOp> max_pool(const PoolingSpec& spec) = 0;
  virtual std::unique_ptr<AveragePoolOp> average_pool(const PoolingSpec& spec) = 0;
  virtual std::unique_ptr<GlobalAveragePoolOp> global_average_pool(const GlobalPoolingSpec& spec) = 0;
  virtual std::unique_ptr<LinearOp> linear(const LinearSpec& spec) = 0;
  virtual std::unique_ptr<SoftmaxCrossEntropyOp> softmax_cross_entropy(const SoftmaxCrossEntropySpec& spec) = 0;
  virtual std::unique_ptr<ShortcutOp> shortcut(const ShortcutSpec& spec) = 0;
  virtual std::unique_ptr<ImageBatchOp> image_batch(const ImageBatchSpec& spec) = 0;
  virtual ElementwiseOps& elementwise() = 0;

  /// Of the memory that operations share, for those that are planned so far.
  virtual std::int64_t scratch_bytes() const = 0;

  /// What was measured while operations were planned, and is used rather than measured again; null where nothing is.
  virtual PlanCache* plans() { return nullptr; }
};

struct LibrarySpec {
  DeviceKind device = DeviceKind::kAuto;
  std::int64_t threads = 1;     ///< of the CPU device
  std::int64_t local_rank = 0;  ///< among the ranks of this host: GPU local_rank % number of GPUs
  bool tf32 = false;            ///< a GPU may round the inputs of float32 convolutions and linear layers to TF32
  bool records = true;          ///< false: no graphs, so that operations can be timed one by one
};

/// The device asked for, with its arithmetic; kAuto takes a GPU where there is one and Convoy was built for it.
/// The only place that knows which devices were built in. Throws RequestError where the device is not to be had, or
/// where this processor lacks instructions that the build was made for.
std::unique_ptr<Library> make_library(const LibrarySpec& spec);

}  // namespace convoy::ops
