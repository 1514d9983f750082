/// The CUDA device with its operations, or the reason why there is none: backend.cpp if Convoy is built with CUDA, else
/// not_built.cpp. The build chooses the file; no other code knows which one.
#pragma once

#include <memory>
#include <string>

#include "convoy/ops/backend.h"

namespace convoy::ops::cuda {

/// The reason why this process has no GPU to compute on, as a sentence without its full stop; empty if it has one.
std::string why_unavailable();

/// Creates the CUDA backend. Call it only if why_unavailable() is empty. Throws RequestError if the GPU is not
/// available all the same.
std::unique_ptr<Backend> make_cuda_backend(const BackendSpec& spec);

}  // namespace convoy::ops::cuda
