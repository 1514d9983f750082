/// Broadcast, send, receive and gather of blocks of any size.
#include "comm/mpi/chunks.h"

#include <cstring>
#include <numeric>

#include "comm/mpi/check.h"

namespace convoy::mpi {

namespace {

// Above the tags of callers and below 32767, which every MPI allows.
constexpr int kGatherTag = Communicator::kMaxTag + 1;

std::byte* at(void* data, std::int64_t offset_bytes) {
  return static_cast<std::byte*>(data) + offset_bytes;
}

const std::byte* at(const void* data, std::int64_t offset_bytes) {
  return static_cast<const std::byte*>(data) + offset_bytes;
}

// The size of each rank's part, at the root. All ranks of the group.
std::vector<std::int64_t> gather_sizes(const Communicator& group, std::int64_t size_bytes, int root) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(group.size()));
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(
      MPI_Igather(&size_bytes, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, root, group.handle(), &request));
  Request(request).wait();
  return sizes;
}

}  // namespace

void broadcast_in_chunks(const Communicator& group, void* data, std::int64_t size_bytes, int root,
                         std::int64_t chunk_bytes) {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    CONVOY_CHECK_MPI(MPI_Ibcast(at(data, offset), static_cast<int>(size), MPI_BYTE, root, group.handle(), &request));
    Request(request).wait();
  });
}

void send_in_chunks(const Communicator& group, const void* data, std::int64_t size_bytes, int to, int tag,
                    std::int64_t chunk_bytes) {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    group.start_send(at(data, offset), size, to, tag).wait();
  });
}

void receive_in_chunks(const Communicator& group, void* data, std::int64_t size_bytes, int from, int tag,
                       std::int64_t chunk_bytes) {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    group.start_receive(at(data, offset), size, from, tag).wait();
  });
}

std::vector<std::byte> gather_in_chunks(const Communicator& group, std::span<const std::byte> part, int root,
                                        std::int64_t chunk_bytes) {
  const auto part_bytes = static_cast<std::int64_t>(part.size());
  const std::vector<std::int64_t> sizes = gather_sizes(group, part_bytes, root);
  if (group.rank() != root) {
    send_in_chunks(group, part.data(), part_bytes, root, kGatherTag, chunk_bytes);
    return {};
  }
  // One rank after the other, straight into its place: the whole is the only memory needed.
  std::vector<std::byte> whole(static_cast<std::size_t>(std::reduce(sizes.begin(), sizes.end())));
  std::byte* place = whole.data();
  for (int from = 0; from < group.size(); ++from) {
    const std::int64_t size_bytes = sizes[static_cast<std::size_t>(from)];
    if (from != root) {
      receive_in_chunks(group, place, size_bytes, from, kGatherTag, chunk_bytes);
    } else if (size_bytes > 0) {
      std::memcpy(place, part.data(), part.size());
    }
    place += size_bytes;
  }
  return whole;
}

}  // namespace convoy::mpi
