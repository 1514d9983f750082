/// Groups of ranks and the messages inside them. Calls for setup block; calls of a step start a message, which is
/// tested later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace convoy::mpi {

/// Is told when this rank begins to wait for others in Request::wait(), and when what it waited for has come.
class WaitListener {
 public:
  virtual ~WaitListener() = default;
  virtual void begin_wait() = 0;
  virtual void end_wait() = 0;
};

/// A message in flight. Must be complete before it is destroyed or overwritten (checked by assert, except while an
/// exception unwinds); it is inactive then.
class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request, WaitListener* listener = nullptr) : request_(request), listener_(listener) {}
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True once complete (or never started). Makes progress on all messages of this rank.
  bool test();
  bool active() const { return request_ != MPI_REQUEST_NULL; }
  /// Waits, yielding the core to other ranks on it; for setup, checkpoints and shutdown, not for a step's hot path. As
  /// long as it takes: the other rank may read or write a file meanwhile.
  void wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  WaitListener* listener_ = nullptr;
};

/// How a rank waits when ranks may outnumber cores: first it only tests again, then it offers its core to whoever is
/// ready, then it sleeps, each time twice as long. The first two keep the latency of a message; the last leaves the
/// core to the arithmetic of others, and to this rank's own background threads, in waits that are long anyway.
class Backoff {
 public:
  void pause() {
    if (++num_pauses_ > kSpins) offer_core();
  }
  /// Whether pauses have begun in which others get the core: such a pause lasts as long as they want it.
  bool offers_core() const { return num_pauses_ > kSpins; }

 private:
  static constexpr std::int64_t kSpins = 2000;    // at about 0.1 us a test: below the length of a time slice
  static constexpr std::int64_t kYields = 20000;  // at 0.3 us or more a yield

  void offer_core() const;

  std::int64_t num_pauses_ = 0;
};

/// Whoever is terminated while it waits for a rank that has died would wait until it is killed: srun's SIGTERM to the
/// others is only a request to stop here (convoy/comm/stop_signals.h). So a wait fails where, after a SIGTERM, nothing
/// comes for far longer than it ever took.
class Patience {
 public:
  /// Called again and again during one wait. Throws Error when it is at an end.
  void check();
  /// What was awaited has come.
  void remember() const;

 private:
  double began_seconds_ = 0, terminated_seconds_ = 0;  ///< when check() saw it first; 0 for never
};

/// Waits until `done()` is true; it is called again and again and should make progress on what is awaited. For
/// messages of a step, which no rank keeps others waiting for but by computing: the patience is limited.
template <typename Done>
void wait_until(Done&& done) {
  Patience patience;
  for (Backoff backoff; !done(); backoff.pause())
    if (backoff.offers_core()) patience.check();
  patience.remember();
}

/// A group of ranks. Copies refer to the same group; free() is left to MPI_Finalize's end of the session.
class Communicator {
 public:
  Communicator() = default;
  explicit Communicator(MPI_Comm comm, WaitListener* listener = nullptr);
  /// The same group, whose waits the listener is told, and those of the groups that are split from it.
  Communicator with(WaitListener& listener) const { return Communicator(comm_, &listener); }

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return comm_; }

  /// Ranks that give the same color form a group, ordered by key. All ranks of this group call it.
  Communicator split(int color, int key) const;
  /// The ranks of this group that are on this rank's node, in its order. All ranks of this group call it.
  Communicator split_by_node() const;

  // --- Started, tested later. Buffers (counts too) stay untouched until the request is complete.
  //     At most 2^31 - 1 bytes a message; tags from tags.h.
  Request start_send(const void* data, std::int64_t size_bytes, int to, int tag) const;
  Request start_receive(void* data, std::int64_t size_bytes, int from, int tag) const;
  /// Sum of size() * part_count floats over the group, of which each rank receives its part. All ranks of this group.
  Request start_reduce_scatter(const float* data, float* part, int part_count) const;
  /// The counts[r] values of each rank r, one after the other, into every rank's `all`. All ranks of this group.
  Request start_all_gather(const double* part, double* all, std::span<const int> counts,
                           std::span<const int> offsets) const;
  /// Maximum over the group into every rank's `result`. All ranks of this group.
  Request start_max(const std::int64_t* value, std::int64_t* result) const;

  /// Sums of integers over the group, each element by itself, into every rank's `result`. All ranks of this group.
  Request start_sum(std::span<const std::int64_t> values, std::span<std::int64_t> result) const;

  // --- Blocking: setup, checkpoints, end of epoch. Any size, in messages of `chunk_bytes` (tests use small ones),
  // which
  //     all who take part give alike: MPI counts with ints.
  void barrier() const;
  void broadcast(void* data, std::int64_t size_bytes, int root, std::int64_t chunk_bytes = kChunkBytes) const;
  /// The root's bytes, on all ranks; what the others give is ignored.
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root) const;
  std::string broadcast(const std::string& text, int root) const;
  void send(const void* data, std::int64_t size_bytes, int to, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  void receive(void* data, std::int64_t size_bytes, int from, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  /// Each rank's bytes, one after the other in rank order, at the root (elsewhere empty). Parts may differ in size.
  std::vector<std::byte> gather(std::span<const std::byte> part, int root,
                                std::int64_t chunk_bytes = kChunkBytes) const;

 private:
  /// Far below the 2^31 - 1 bytes that an int counts, and long enough to cost nothing.
  static constexpr std::int64_t kChunkBytes = std::int64_t{1} << 30;

  MPI_Comm comm_ = MPI_COMM_NULL;
  WaitListener* listener_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace convoy::mpi
