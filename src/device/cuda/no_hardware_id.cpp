/// In a build without CUDA no device is a GPU.
#include "convoy/device/gpu_sensors.h"

namespace convoy {

std::string hardware_id(const Device&) {
  return "";
}

}  // namespace convoy
