/// Tests of operations on a GPU, which are skipped if there is none.
#include "ops/cuda/backend.h"
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<BackendKind> backend_kinds() {
  const std::string reason = ops::cuda::why_unavailable();
  return {{.name = "Cuda",
           .make = [] { return ops::make_backend({.device = DeviceKind::kCuda}); },
           .types = {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16},
           .rounds_dw = true,
           .why_absent = reason.empty() ? "" : "no GPU: " + reason}};
}

}  // namespace convoy
