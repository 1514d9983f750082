/// Golden steps on the CPU.
#include "golden/golden_backend.h"

namespace convoy::test {

std::string why_no_backend() {
  return "";
}

std::unique_ptr<ops::Backend> make_backend(PrecisionKind) {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
}

std::vector<PrecisionKind> low_precisions() {
  return {PrecisionKind::kBf16};
}

}  // namespace convoy::test
