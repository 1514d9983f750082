/// Scratch memory that grows with what is planned.
#include "ops/cuda/context.h"

#include <utility>

namespace convoy::ops::cuda {

void Context::reserve_scratch(std::int64_t size_bytes) {
  if (size_bytes <= scratch_.size_bytes()) return;
  Buffer larger(device_, size_bytes);
  if (scratch_.size_bytes() > 0) outgrown_.push_back(std::move(scratch_));
  scratch_ = std::move(larger);
}

std::int64_t Context::scratch_bytes() const {
  std::int64_t size_bytes = scratch_.size_bytes();
  for (const Buffer& buffer : outgrown_) size_bytes += buffer.size_bytes();
  return size_bytes;
}

}  // namespace convoy::ops::cuda
