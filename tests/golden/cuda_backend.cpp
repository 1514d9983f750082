/// Golden steps on a GPU.
#include "convoy/comm/topology.h"

#include "golden/golden_backend.h"
#include "ops/cuda/backend.h"
#include "parallel/mpi_main.h"

namespace convoy::test {

std::string why_no_backend() {
  const std::string reason = ops::cuda::why_unavailable();
  return reason.empty() ? "" : "no GPU: " + reason;
}

std::unique_ptr<ops::Backend> make_backend(PrecisionKind precision) {
  return ops::make_backend({.device = DeviceKind::kCuda,
                            .local_rank = find_topology(world()).local_rank,
                            .tf32 = precision == PrecisionKind::kTf32});
}

std::vector<PrecisionKind> low_precisions() {
  return {PrecisionKind::kTf32, PrecisionKind::kBf16, PrecisionKind::kFp16};
}

}  // namespace convoy::test
