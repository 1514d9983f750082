/// A backend with the operations of the CUDA device, run on the emulated GPU: for tests of kernels without a GPU.
#pragma once

#include <memory>

#include "convoy/ops/backend.h"

namespace convoy::emulation {

/// Creates the backend with a device of its own, whose stream runs asynchronously to the host. It runs the kernels of
/// src/ops/cuda. The fully connected layer uses plain_matmul() in place of cublasLt. Convolution, which cuDNN computes
/// on a GPU, is the CPU's, with inputs widened to float32 and outputs rounded to the type of the spec.
std::unique_ptr<ops::Backend> make_emulated_backend();

}  // namespace convoy::emulation
