/// Groups of ranks and the messages inside them. Setup calls block; what a step uses starts and is tested later.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <mpi.h>

namespace convoy::mpi {

/// A message under way. Must be complete before it is destroyed or overwritten (checked by assert); it is inactive then.
class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request) : request_(request) {}
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True once complete (or never started). Makes progress on all messages of this rank.
  bool test();
  bool active() const { return request_ != MPI_REQUEST_NULL; }
  /// Waits, yielding the core to other ranks on it; for setup and shutdown, not for a step's hot path.
  void wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Spins on `done`, then yields, then sleeps some microseconds at a time: ranks may outnumber cores.
template <typename Done>
void wait_until(Done&& done);

/// A group of ranks. Copies refer to the same group; free() is left to MPI_Finalize's end of the session.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm comm);

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return comm_; }

  /// Ranks that give the same color form a group, ordered by key. All ranks of this group call it.
  Communicator split(int color, int key) const;

  // --- Started, tested later. Buffers stay untouched until the request is complete. At most 2^31 - 1 bytes.
  Request start_send(const void* data, std::int64_t size_bytes, int to, int tag) const;
  Request start_receive(void* data, std::int64_t size_bytes, int from, int tag) const;
  /// Sum of floats over the group; rank r receives the counts[r] values of its part. All ranks of this group.
  Request start_reduce_scatter(const float* data, float* part, std::span<const int> counts) const;
  /// Maximum over the group into every rank's `result`. All ranks of this group.
  Request start_max(const std::int64_t* value, std::int64_t* result) const;

  // --- Blocking: setup, checkpoints, end of epoch. Any size.
  void barrier() const;
  void broadcast(void* data, std::int64_t size_bytes, int root) const;
  void send(const void* data, std::int64_t size_bytes, int to, int tag) const;
  void receive(void* data, std::int64_t size_bytes, int from, int tag) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  /// Each rank's bytes, one after the other in rank order, at the root (elsewhere empty). Parts may differ in size.
  std::vector<std::byte> gather(std::span<const std::byte> part, int root) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace convoy::mpi
