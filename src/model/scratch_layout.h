/// Offsets for what lives during a part of a call only: what does not live at the same time may share memory.
#pragma once

#include <cstdint>
#include <vector>

namespace convoy {

/// Calls are counted from 0; both ends belong to the lifetime.
struct Lifetime {
  std::int64_t bytes = 0;
  std::int64_t first_call = 0, last_call = 0;
};

struct ScratchLayout {
  std::vector<std::int64_t> offsets;  ///< bytes, multiples of 64, by lifetime
  std::int64_t bytes = 0;             ///< of all
};

/// The largest first, each at the lowest offset that is free during its lifetime.
ScratchLayout lay_out_scratch(const std::vector<Lifetime>& lifetimes);

}  // namespace convoy
