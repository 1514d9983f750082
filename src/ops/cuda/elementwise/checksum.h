/// The checksum of a GPU's memory, for ElementwiseOps::add_checksum().
#pragma once

#include <cstdint>

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

class Checksum {
 public:
  explicit Checksum(Context& context);

  /// Adds the checksum of `data` to `*sum`, both in device memory. Enqueued on the stream.
  void add(const void* data, std::int64_t size_bytes, std::uint64_t* sum) const;

 private:
  cudaStream_t stream_;
  Buffer parts_;  ///< a std::uint64_t for each thread block: its part of the sum
};

}  // namespace convoy::ops::cuda
