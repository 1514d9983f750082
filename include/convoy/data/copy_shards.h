/// Copies shards from a parallel file system to the memory or a disk of each node before training begins. Small reads
/// in random order then do not slow other users down, and are as fast in the last epoch as in the first.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/io/dataset.h"

namespace convoy {

/// Where the copies are made, and how large they may be.
struct ShardCopies {
  std::string to;  ///< value of data.copy_to: "memory" (/dev/shm), or a folder on each node's disk
  /// Maximal number of bytes to copy per node, even if it has room for more.
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();
  std::function<void()> on_progress;  ///< called each time a few MiB have been copied
};

/// Returns the number of bytes that copies may take on this node: nine tenths of the free space of `to`, which is
/// "memory" or a folder. In memory, also at most half of the memory that is available and half of each memory limit,
/// since the training needs the rest. Throws RequestError if the folder does not exist.
std::int64_t room_for_copies(const std::string& to);

/// Copies the shards of `sets` into one file per node, and makes the data sets read the copies. The file is deleted
/// from its folder once all ranks of the node have opened it, so that no file remains after the job, however it ends.
/// The ranks of a node share the work: each shard is read once per node, from its first byte to its last, and its hash
/// is verified at the same time. Shards that do not fit are read from their own files, with a warning.
///
/// All ranks of `world` call it, each with the same sets; an error on one rank is thrown on all. Throws RequestError if
/// the file cannot be created, Error if a shard is damaged. Rank 0 prints what was copied. A request to stop ends the
/// copying: shards that are not copied yet are then read from their own files.
void copy_shards(const ShardCopies& asked, std::span<io::Dataset* const> sets, const mpi::Communicator& world);

}  // namespace convoy
