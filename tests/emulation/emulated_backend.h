/// A backend whose operations are those of the CUDA device, run on the emulated GPU: what tests of kernels need where
/// there is none.
#pragma once

#include <memory>

#include "convoy/ops/backend.h"

namespace convoy::emulation {

/// On a device of its own, whose stream runs asynchronously to the host. All kernels of src/ops/cuda; convolution and
/// the fully connected layer, which cuDNN and cuBLAS compute on a GPU, are the CPU's, with inputs widened to float32
/// and outputs rounded to the type of the spec.
std::unique_ptr<ops::Backend> make_emulated_backend();

}  // namespace convoy::emulation
