/// The CUDA device with its operations, or the reason why there is none: backend.cpp where Convoy is built with CUDA,
/// not_built.cpp where it is not. The build chooses the file, no other code knows which.
#pragma once

#include <memory>
#include <string>

#include "convoy/ops/backend.h"

namespace convoy::ops::cuda {

/// Why this process has no GPU to compute on, as a sentence without its full stop; empty where it has.
std::string why_unavailable();

/// Only where why_unavailable() is empty. Throws RequestError where the GPU cannot be had all the same.
std::unique_ptr<Backend> make_cuda_backend(const BackendSpec& spec);

}  // namespace convoy::ops::cuda
