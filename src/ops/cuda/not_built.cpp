/// In place of the CUDA device in a build without it.
#include "convoy/base/error.h"

#include "ops/cuda/library.h"

namespace convoy::ops::cuda {

std::string why_unavailable() {
  return "this convoy was built without CUDA; with nvcc, cuDNN and NCCL a build has it, see README.md";
}

std::unique_ptr<Library> make_cuda_library(const LibrarySpec&) {
  refuse("run.device = cuda: {}", why_unavailable());
}

}  // namespace convoy::ops::cuda
