/// Tests of operations on the CPU: with one thread and with two.
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<BackendKind> backend_kinds() {
  const std::vector<DataType> types = {DataType::kFloat32, DataType::kBfloat16};
  return {
      {"CpuWithOneThread", [] { return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1}); }, types},
      {"CpuWithTwoThreads", [] { return ops::make_backend({.device = DeviceKind::kCpu, .threads = 2}); }, types},
  };
}

}  // namespace convoy
