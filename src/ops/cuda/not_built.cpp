/// Takes the place of the CUDA device in a build without it.
#include "convoy/base/error.h"

#include "ops/cuda/backend.h"

namespace convoy::ops::cuda {

std::string why_unavailable() {
  return "this convoy was built without CUDA. To have it, build with nvcc, cuDNN and NCCL: see jobs/gpus.md";
}

std::unique_ptr<Backend> make_cuda_backend(const BackendSpec&) {
  refuse("run.device = cuda: {}", why_unavailable());
}

}  // namespace convoy::ops::cuda
