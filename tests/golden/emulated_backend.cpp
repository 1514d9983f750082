/// Golden steps on the emulated GPU: its kernels between convolutions in float32 whose results are rounded.
#include "emulation/emulated_backend.h"

#include "golden/golden_backend.h"

namespace convoy::test {

std::string why_no_backend() {
  return "";
}

std::unique_ptr<ops::Backend> make_backend(PrecisionKind) {
  return emulation::make_emulated_backend();
}

std::vector<PrecisionKind> low_precisions() {
  return {PrecisionKind::kBf16, PrecisionKind::kFp16};
}

}  // namespace convoy::test
