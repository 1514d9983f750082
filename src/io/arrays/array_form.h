/// Checks the extents of arrays that files claim to hold.
#pragma once

#include <cstdint>
#include <span>

#include "convoy/io/array_reader.h"

namespace convoy::io {

/// Throws Error with a reason ("it has ...") if there are no extents, more than kMaxArrayRank or one that is 0, or if
/// the size of all values, of `value_bytes` bytes each, would overflow.
void check_dims(std::span<const std::int64_t> dims, std::int64_t value_bytes);

}  // namespace convoy::io
