/// Golden steps on the CPU.
#include "golden/golden_library.h"

namespace convoy::test {

std::string why_no_library() {
  return "";
}

std::unique_ptr<ops::Library> make_library(PrecisionKind) {
  return ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
}

std::vector<PrecisionKind> low_precisions() {
  return {PrecisionKind::kBf16};
}

}  // namespace convoy::test
