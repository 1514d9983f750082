/// The one place that knows which devices were built in.
#include "convoy/base/error.h"
#include "convoy/ops/library.h"

#include "ops/cpu/operations.h"
#include "ops/processor.h"

namespace convoy::ops {

namespace {

/// Before any code of src/ops/cpu runs: an illegal instruction would end the program without a word.
void check_processor() {
  const std::string missing = missing_extensions(cpu::kCompiledFor, processor_extensions());
  if (missing.empty()) return;
  refuse(
      "run.device = cpu: this convoy was built for a processor with {}, which this one lacks. Build on a machine like "
      "this one, or with -DCONVOY_ARCH=x86-64-v3 or x86-64 for all the machines of a cluster.",
      missing);
}

}  // namespace

std::unique_ptr<Library> make_library(const LibrarySpec& spec) {
  if (spec.threads < 1) refuse("run.threads = {}: at least 1 thread is needed to compute", spec.threads);
#if CONVOY_CUDA
#error "The CUDA device is made here"
#else
  if (spec.device == DeviceKind::kCuda) {
    refuse("run.device = cuda: this convoy was built without CUDA. Use run.device = cpu or auto.");
  }
#endif
  check_processor();
  return cpu::make_cpu_library(spec.threads);
}

}  // namespace convoy::ops
