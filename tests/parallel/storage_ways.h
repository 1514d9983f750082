/// The ways to train in 16-bit storage on any machine: on the CPU, and by the CUDA device's kernels on the emulated
/// GPU.
#pragma once

#include <memory>

#include "convoy/base/data_type.h"
#include "convoy/ops/backend.h"

#include "emulation/emulated_backend.h"

namespace convoy::test {

inline std::unique_ptr<ops::Backend> make_cpu_backend() {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
}

struct StorageWay {
  const char* name;
  std::unique_ptr<ops::Backend> (*make_backend)();
  PrecisionKind precision;
  DataType type;
};

inline constexpr StorageWay kStorageWays[] = {
    {"CPU in bf16", make_cpu_backend, PrecisionKind::kBf16, DataType::kBfloat16},
    {"emulated GPU in bf16", emulation::make_emulated_backend, PrecisionKind::kBf16, DataType::kBfloat16},
    {"emulated GPU in fp16", emulation::make_emulated_backend, PrecisionKind::kFp16, DataType::kFloat16}};

}  // namespace convoy::test
