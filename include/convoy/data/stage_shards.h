/// Copies shards from a parallel file system to memory or a disk of each node before training begins. There, small
/// reads in random order do not slow other users down, and are as fast in the last epoch as in the first.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>

#include "convoy/comm/communicator.h"
#include "convoy/io/dataset.h"

namespace convoy {

struct Staging {
  std::string to;  ///< DataParams::stage: "memory" (/dev/shm), or a folder on each node's disk
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  ///< limit per node, also if it has room for more
  std::function<void()> on_progress;                                  ///< called after every few MiB
};

/// Returns the bytes that copies may take on this node: nine tenths of the free space. In memory also at most half of
/// what processes can still have, since the training needs the rest. Throws RequestError if the folder does not exist.
std::int64_t room_for_copies(const std::string& to);

/// Copies the shards into one file per node, and makes the data sets read the copies. The file has no name after all
/// ranks of the node have opened it, so nothing of it remains when the job has ended, however it ends. The ranks of a
/// node share the work: each shard is read once per node, from its first byte to its last, and its hash is verified on
/// the way. Shards that do not fit are read from their own files, with a warning.
///
/// Called by all ranks of world, each with the same sets; an error on one rank is thrown on all. Throws RequestError if
/// the file cannot be made, Error if a shard is damaged. Rank 0 prints what was copied. A request to stop ends the
/// copying: shards that are not copied yet are then read from their own files.
void stage_shards(const Staging& staging, std::span<io::Dataset* const> sets, const mpi::Communicator& world);

}  // namespace convoy
