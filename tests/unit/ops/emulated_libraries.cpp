/// Tests of operations on the emulated GPU.
#include "emulation/emulated_library.h"
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<LibraryKind> library_kinds() {
  return {{"EmulatedCuda",
           emulation::make_emulated_library,
           {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}}};
}

}  // namespace convoy
