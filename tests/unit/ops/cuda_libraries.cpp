/// Tests of operations on a GPU, skipped where there is none.
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<LibraryKind> library_kinds() {
  return {{"Cuda",
           [] { return ops::make_library({.device = DeviceKind::kCuda}); },
           {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16},
           true}};
}

}  // namespace convoy
