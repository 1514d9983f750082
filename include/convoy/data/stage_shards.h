/// Copies shards from a parallel file system to memory or a disk of each node before training begins: there, small
/// reads in random order cost other users nothing, and are as fast at the last epoch as at the first.
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
  std::string to;  ///< DataParams::stage: "memory" (/dev/shm), or a folder that each node has for itself
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  ///< on a node, where it has room for more
  std::function<void()> on_progress;                                  ///< called every few MiB
};

/// Bytes that copies may take on this node: nine tenths of what is free, in memory also at most half of what processes
/// can still have, since the training needs the rest. Throws RequestError where there is no such folder.
std::int64_t room_for_copies(const std::string& to);

/// Into one file per node, which has no name once all ranks of the node have opened it: nothing of it remains when the
/// job has ended, however it ends. The ranks of a node share the shards among them: each is read once per node, from
/// its first byte to its last, and its hash is verified on the way. All ranks then read the copies. Shards for which
/// there is no room are read from their own files, with a warning.
///
/// All ranks of world, each with the same sets; whatever fails on one rank is thrown on all. Throws RequestError where
/// no file can be made, Error where a shard is damaged. Says on rank 0 what was copied. A request to stop ends the
/// copying: what is not copied yet is then read from its own file.
void stage_shards(const Staging& staging, std::span<io::Dataset* const> sets, const mpi::Communicator& world);

}  // namespace convoy
