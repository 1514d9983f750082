/// Golden steps on the emulated GPU: its kernels between convolutions in float32 whose results are rounded.
#include "emulation/emulated_library.h"

#include "golden/golden_library.h"

namespace convoy::test {

std::string why_no_library() {
  return "";
}

std::unique_ptr<ops::Library> make_library(PrecisionKind) {
  return emulation::make_emulated_library();
}

std::vector<PrecisionKind> low_precisions() {
  return {PrecisionKind::kBf16, PrecisionKind::kFp16};
}

}  // namespace convoy::test
