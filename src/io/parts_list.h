/// /parts of a checkpoint in parts: which tensors there are, which files hold their values, and where.
#pragma once

#include <cstdint>

#include "convoy/io/checkpoint.h"

#include "io/hdf5.h"

namespace convoy::io {

/// Names, shapes and checkpoint.parts; no values.
void write_parts_list(hid_t file, const Checkpoint& checkpoint);

/// Fills what write_parts_list() wrote. Throws Error where that is none: lists of other lengths, values that no piece
/// or two pieces hold, a folder that is elsewhere. `limit_bytes`: no honest file holds more.
void read_parts_list(hid_t file, std::uint64_t limit_bytes, Checkpoint& checkpoint);

}  // namespace convoy::io
