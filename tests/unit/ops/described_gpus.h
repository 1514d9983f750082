/// Descriptions of GPUs for cuDNN, which then names its engines for them without a GPU.
#pragma once

#include <cstdint>
#include <string>

#include <fmt/core.h>

namespace convoy::test {

struct DescribedGpu {
  std::string name;
  int compute_capability = 0;  ///< compute capability times 100, as in cuDNN
  int num_multiprocessors = 0;
  int shared_memory_bytes = 0;  ///< most shared memory that a block may ask for
  int l2_bytes = 0;
  std::int64_t memory_bytes = 0;
};

// From NVIDIA's data sheets and the CUDA programming guide's table of compute capabilities.
inline const DescribedGpu kH200{"H200", 900, 132, 227 << 10, 50 << 20, std::int64_t{141} * 1000 * 1000 * 1000};
inline const DescribedGpu kA100{"A100", 800, 108, 163 << 10, 40 << 20, std::int64_t{40} * 1000 * 1000 * 1000};

/// The description for cuDNN, with the numbers above and those that both GPUs share. cuDNN needs all of them.
inline std::string to_json(const DescribedGpu& gpu) {
  return fmt::format(
      R"({{"deviceName": "{}", "deviceVer": {}, "multiProcessorCount": {}, "maxSharedMemoryPerBlockOptin": {},)"
      R"( "l2CacheSize": {}, "totalGlobalMem": {}, "driverVer": 13000, "cudaDeviceId": 0, "pciDeviceId": 0,)"
      R"( "isTccDriver": 0, "supportCoopLaunch": 1, "warpSize": 32, "maxGridSize": [2147483647, 65535, 65535],)"
      R"( "maxBlockSize": [1024, 1024, 64], "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "maxCtasPerSM": 32,)"
      R"( "regsPerBlock": 65536, "maxRegistersPerSM": 65536, "maxSharedMemoryPerBlock": 49152,)"
      R"( "reservedSharedMemoryPerBlock": 1024, "smClockRateKHz": 1500000, "memClockRateKHz": 1500000}})",
      gpu.name, gpu.compute_capability, gpu.num_multiprocessors, gpu.shared_memory_bytes, gpu.l2_bytes,
      gpu.memory_bytes);
}

}  // namespace convoy::test
