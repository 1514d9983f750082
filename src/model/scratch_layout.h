/// Offsets for memory that is used during a part of a call only: what is not used at the same time may share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// The time during which memory is used. Calls are counted from 0; first and last call are included.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first_call = 0, last_call = 0;
};

struct ScratchLayout {
  std::vector<std::int64_t> offsets;  ///< by lifetime, in bytes, multiples of 64
  std::int64_t bytes = 0;             ///< in total
};

/// Places the largest first, each at the lowest offset that is free during its lifetime.
ScratchLayout lay_out_scratch(const std::vector<Lifetime>& lifetimes);

}  // namespace convoy
