/// What a device can compute: creates every operation once, so that running it allocates nothing.
#pragma once

#include <memory>
#include <string>

#include "convoy/device/device.h"
#include "convoy/ops/elementwise.h"
#include "convoy/ops/engine_cache.h"
#include "convoy/ops/operation_list.h"
#include "convoy/params/parameters.h"

namespace convoy::ops {

/// Operations of one backend share its scratch memory: they run one after the other.
/// Throws Error naming the spec where the device cannot compute it.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device& device() = 0;
  template <typename Op>
  std::unique_ptr<Op> create(const typename Op::Spec& spec) {
    return std::get<std::unique_ptr<Op>>(create_any(OpRequest<Op>{spec}));
  }
  /// An operation of the kind that is requested.
  virtual AnyOp create_any(const AnyRequest& request) = 0;
  virtual ElementwiseOps& elementwise() = 0;

  /// Of the memory that operations share, for the operations created so far.
  virtual std::int64_t scratch_bytes() const = 0;

  /// The engines measured while operations were created, to be used instead of measuring again; null if the backend
  /// measures nothing.
  virtual EngineCache* engine_cache() { return nullptr; }
};

struct BackendSpec {
  DeviceKind device = DeviceKind::kAuto;
  std::int64_t threads = 1;     ///< of the CPU device
  std::int64_t local_rank = 0;  ///< among the ranks of this host: GPU local_rank % number of GPUs
  bool tf32 = false;            ///< a GPU may round the inputs of float32 convolutions and linear layers to TF32
};

/// The device asked for, with its arithmetic; kAuto takes a GPU where there is one and Convoy was built for it. The
/// only code that knows which devices were built in. Throws RequestError where the device is not available, or where
/// this processor lacks instructions that the build was made for.
std::unique_ptr<Backend> make_backend(const BackendSpec& spec);

/// Whether make_backend() would take the CPU for it.
bool computes_on_host(DeviceKind device);

/// "oneDNN 2.6.3": the library that runs. Those of a GPU are in its device's description.
std::string onednn_version();

}  // namespace convoy::ops
