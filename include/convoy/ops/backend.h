/// The backend of a device: it creates each operation once, so that running the operation allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

#include "convoy/ops/operation_list.h"
#include "convoy/params/choices.h"

namespace convoy {
class Device;
}

namespace convoy::ops {

class ElementwiseOps;
class EngineCache;

/// Creates the operations of one device. All operations share the backend's scratch memory, so no two may run at the
/// same time.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual Device& device() = 0;
  /// Creates an operation of the type Op. Throws Error, naming the spec, if the device cannot compute it. Callers
  /// include convoy/ops/operations.h.
  template <typename Op>
  std::unique_ptr<Op> create(const typename Op::Spec& spec) {
    return std::get<std::unique_ptr<Op>>(create_any(OpRequest<Op>{spec}));
  }
  /// Creates an operation of the requested type. Throws Error, naming the spec, if the device cannot compute it.
  virtual AnyOp create_any(const AnyRequest& request) = 0;
  virtual ElementwiseOps& elementwise() = 0;

  /// Size in bytes of the scratch memory that the operations created so far share.
  virtual std::int64_t scratch_bytes() const = 0;

  /// The cache of engines, the implementations that were measured to be the fastest when operations were created. A
  /// later creation uses them instead of measuring again. Null if the backend measures nothing.
  virtual EngineCache* engine_cache() { return nullptr; }
};

struct BackendSpec {
  DeviceKind device = DeviceKind::kAuto;
  std::int64_t threads = 1;     ///< number of threads of the CPU device, at least 1
  std::int64_t local_rank = 0;  ///< index among the ranks of this host, which uses GPU local_rank % number of GPUs
  bool tf32 = false;            ///< a GPU may round the inputs of float32 convolutions and linear layers to TF32
};

/// Creates the backend of a device. kAuto chooses a GPU if one exists and Convoy was built for it, else the CPU. This
/// is the only function that knows for which devices Convoy was built. Throws RequestError if the device is not
/// available, if spec.threads is less than 1, or if this processor lacks instructions that the CPU operations were
/// compiled for.
std::unique_ptr<Backend> make_backend(const BackendSpec& spec);

/// Whether make_backend() would choose the CPU for `device`.
bool computes_on_host(DeviceKind device);

/// The version of the oneDNN library that this process has loaded: "oneDNN 2.6.3". For a GPU, Device::description()
/// names the libraries.
std::string onednn_version();

}  // namespace convoy::ops
