/// Creates the backend of a GPU, or says why there is none. The functions are in backend.cpp if Convoy is built with
/// CUDA, else in not_built.cpp. The build chooses the file; no other code knows which one.
#pragma once

#include <memory>
#include <string>

#include "convoy/ops/backend.h"

namespace convoy::ops::cuda {

/// Returns the reason why this process cannot use a GPU, as a sentence without its full stop; empty if it can.
std::string why_unavailable();

/// Creates the CUDA backend. Call it only if why_unavailable() returns an empty text. Throws RequestError if the GPU
/// cannot be used even so, for example because another process uses it exclusively.
std::unique_ptr<Backend> make_cuda_backend(const BackendSpec& spec);

}  // namespace convoy::ops::cuda
