/// Chooses the device.
#include "convoy/base/error.h"
#include "convoy/ops/backend.h"

#include "ops/cpu/backend.h"
#include "ops/cpu/instruction_set.h"
#include "ops/cuda/backend.h"

namespace convoy::ops {

namespace {

/// Must be called before any code of src/ops/cpu runs: an illegal instruction would end the program without a message.
void check_processor() {
  const std::string missing = cpu::missing_extensions(cpu::kCompiledFor, cpu::processor_extensions());
  if (missing.empty()) return;
  refuse(
      "run.device = cpu: this convoy was built for a processor with {}, which this processor lacks. Build on a machine "
      "like this one, or with -DCONVOY_ARCH=x86-64-v3 or x86-64 for all the machines of a cluster.",
      missing);
}

}  // namespace

bool computes_on_host(DeviceKind device) {
  return device == DeviceKind::kCpu || (device == DeviceKind::kAuto && !cuda::why_unavailable().empty());
}

std::unique_ptr<Backend> make_backend(const BackendSpec& spec) {
  if (spec.threads < 1) refuse("run.threads = {}: at least 1 thread is needed to compute", spec.threads);
  if (spec.device != DeviceKind::kCpu) {
    const std::string reason = cuda::why_unavailable();
    if (reason.empty()) return cuda::make_cuda_backend(spec);
    if (spec.device == DeviceKind::kCuda) {
      refuse("run.device = cuda: {}. Use run.device = cpu or auto.", reason);
    }
  }
  check_processor();
  return cpu::make_cpu_backend(spec.threads);
}

}  // namespace convoy::ops
