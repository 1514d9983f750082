/// Chooses offsets in a buffer for temporary arrays. Arrays that are not used at the same time may share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// The size of a temporary array and the time during which it is used: from the first to the last call of an operation
/// that uses it, both included. Calls are counted from 0.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first_call = 0, last_call = 0;
};

struct ScratchLayout {
  std::vector<std::int64_t> offsets;  ///< offset of each array in bytes, a multiple of 64
  std::int64_t bytes = 0;             ///< size of the whole buffer
};

/// Chooses the offsets. Larger arrays come first; each gets the lowest offset that is free during its lifetime.
ScratchLayout lay_out_scratch(const std::vector<Lifetime>& lifetimes);

}  // namespace convoy
