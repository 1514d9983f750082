/// Messages from GPU to GPU by NCCL.
#pragma once

#include <memory>

#include "convoy/comm/process_grid.h"
#include "convoy/comm/transport.h"
#include "convoy/device/device.h"

namespace convoy::cuda {
class CudaDevice;
}

namespace convoy::nccl {

/// Null where NCCL was not built in, or where a rank of the world shares its GPU with another (which NCCL refuses).
/// All ranks of the world, and the same on all of them.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device);

/// For ranks that have GPUs of their own; only where NCCL was built in. Both outlive it.
std::unique_ptr<Transport> make_nccl_transport(const ProcessGrid& grid, cuda::CudaDevice& device);

}  // namespace convoy::nccl
