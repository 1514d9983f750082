/// A GPU's own name, by which other libraries of NVIDIA's find it.
#include "convoy/device/gpu_sensors.h"

#include "device/cuda/cuda_device.h"

namespace convoy {

std::string hardware_id(const Device& device) {
  const auto* const gpu = dynamic_cast<const cuda::CudaDevice*>(&device);
  return gpu == nullptr ? "" : gpu->hardware_id();
}

}  // namespace convoy
