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

/// Makes NCCL's transport; null if NCCL was not built in, or if a rank of the world shares its GPU with another (which
/// NCCL refuses). All ranks of the world call it, and get the same.
std::unique_ptr<Transport> make_transport(const ProcessGrid& grid, Device& device);

/// Makes NCCL's transport for ranks that have GPUs of their own; only if NCCL was built in. Both arguments must outlive
/// it.
std::unique_ptr<Transport> make_nccl_transport(const ProcessGrid& grid, cuda::CudaDevice& device);

}  // namespace convoy::nccl
