/// /parts of a checkpoint in parts: the tensors, the files that hold their values, and where.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/checkpoint.h"

#include "io/hdf5.h"

namespace convoy::io {

/// Calls visit(name, tensors) for each group that a checkpoint has.
template <typename AnyCheckpoint, typename Visit>
void for_each_group(AnyCheckpoint& checkpoint, const Visit& visit) {
  visit(std::string(groups::kModel), checkpoint.model);
  for (auto& [slot, tensors] : checkpoint.optimizer) visit(groups::of_optimizer(slot), tensors);
  if (!checkpoint.ema.empty()) visit(std::string(groups::kEma), checkpoint.ema);
}

/// Writes names, shapes and checkpoint.parts; no values.
void write_parts_list(hid_t file, const Checkpoint& checkpoint);

/// Reads what write_parts_list() wrote into `checkpoint`. Throws Error if the list is damaged: lists of other lengths,
/// values that no piece or two pieces hold, a folder that is elsewhere, or more than `limit_bytes`.
void read_parts_list(hid_t file, std::uint64_t limit_bytes, Checkpoint& checkpoint);

}  // namespace convoy::io
