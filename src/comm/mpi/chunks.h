/// Blocks of any size as messages that MPI's int counts can hold.
#pragma once

#include <algorithm>
#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy::mpi {

/// Messages of blocking calls: far below the 2^31 - 1 bytes that an int counts, and long enough to cost nothing.
inline constexpr std::int64_t kChunkBytes = std::int64_t{1} << 30;

/// Calls move(offset_bytes, size_bytes) for one chunk after the other. An empty block is no message at all.
template <typename Move>
void for_each_chunk(std::int64_t size_bytes, std::int64_t chunk_bytes, Move&& move) {
  for (std::int64_t offset = 0; offset < size_bytes; offset += chunk_bytes) {
    move(offset, std::min(chunk_bytes, size_bytes - offset));
  }
}

// What Communicator::broadcast, send, receive and gather do, for any size of chunk (tests use small ones). Both sides
// give the same. Groups and meanings as there.
void broadcast_in_chunks(const Communicator& group, void* data, std::int64_t size_bytes, int root,
                         std::int64_t chunk_bytes);
void send_in_chunks(const Communicator& group, const void* data, std::int64_t size_bytes, int to, int tag,
                    std::int64_t chunk_bytes);
void receive_in_chunks(const Communicator& group, void* data, std::int64_t size_bytes, int from, int tag,
                       std::int64_t chunk_bytes);
std::vector<std::byte> gather_in_chunks(const Communicator& group, std::span<const std::byte> part, int root,
                                        std::int64_t chunk_bytes);

}  // namespace convoy::mpi
