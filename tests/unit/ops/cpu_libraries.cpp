/// Tests of operations on the CPU: with one thread and with two.
#include "unit/ops/op_test.h"

namespace convoy {

std::vector<LibraryKind> library_kinds() {
  const std::vector<DataType> types = {DataType::kFloat32, DataType::kBfloat16};
  return {
      {"CpuWithOneThread", [] { return ops::make_library({.device = DeviceKind::kCpu, .threads = 1}); }, types},
      {"CpuWithTwoThreads", [] { return ops::make_library({.device = DeviceKind::kCpu, .threads = 2}); }, types},
  };
}

}  // namespace convoy
