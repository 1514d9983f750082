/// The checksum of a GPU's memory, for ElementwiseOps::add_checksum().
#pragma once

#include <cstdint>

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

class Checksum {
 public:
  explicit Checksum(Context& context);

  void add(const void* data, std::int64_t size_bytes, std::uint64_t* sum) const;

 private:
  cudaStream_t stream_;
  Buffer parts_;  ///< std::uint64_t: the sum of each block
};

}  // namespace convoy::ops::cuda
