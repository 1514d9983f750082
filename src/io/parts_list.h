/// Writes and reads the group /parts of a checkpoint in parts: the list of its tensors, the files that have their
/// values, and the offsets in these files.
#pragma once

#include <cstdint>
#include <string>

#include "convoy/io/checkpoint.h"

#include "io/hdf5.h"

namespace convoy::io {

/// Calls visit(name, tensors) for each group of tensors of a checkpoint: the model, each kind of optimizer state, and
/// the moving average of the weights if there is one.
template <typename AnyCheckpoint, typename Visit>
void for_each_group(AnyCheckpoint& checkpoint, const Visit& visit) {
  visit(std::string(groups::kModel), checkpoint.model);
  for (auto& [state, tensors] : checkpoint.optimizer) visit(groups::of_optimizer(state), tensors);
  if (!checkpoint.ema.empty()) visit(std::string(groups::kEma), checkpoint.ema);
}

/// Writes the names and shapes of the checkpoint's tensors, and checkpoint.parts, but no values.
void write_parts_list(hid_t file, const Checkpoint& checkpoint);

/// Reads what write_parts_list() has written, and adds it to `checkpoint`. Throws Error if the list is damaged: its
/// lists differ in length, a value is in no piece or in two pieces, its folder is not next to the checkpoint, or it
/// is larger than `limit_bytes`.
void read_parts_list(hid_t file, std::uint64_t limit_bytes, Checkpoint& checkpoint);

}  // namespace convoy::io
