/// See run_backend.h.
#include "run/run_backend.h"

#include "convoy/base/error.h"

namespace convoy {

ops::BackendSpec backend_spec(const Parameters& params, std::int64_t threads, std::int64_t local_rank) {
  return {.device = params.run.device,
          .threads = threads,
          .local_rank = local_rank,
          .tf32 = params.train.precision == PrecisionKind::kTf32};
}

void check_precision(PrecisionKind precision, const Device& device) {
  if (device.is_host() && precision != PrecisionKind::kF32 && precision != PrecisionKind::kBf16)
    refuse(
        "train.precision = {} needs a GPU; the CPU has f32 and bf16. Use train.precision = f32 or bf16, or run.device "
        "= cuda.",
        name_of(precision));
}

}  // namespace convoy
