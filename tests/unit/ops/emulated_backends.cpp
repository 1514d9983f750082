/// Tests of operations on the emulated GPU.
#include "emulation/emulated_backend.h"
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<BackendKind> backend_kinds() {
  return {{"EmulatedCuda",
           emulation::make_emulated_backend,
           {DataType::kFloat32, DataType::kBfloat16, DataType::kFloat16}}};
}

}  // namespace convoy
