/// Groups of ranks and the messages inside them. Calls for setup block; calls of a step start a message, which is
/// tested later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <mpi.h>

namespace convoy::mpi {

/// An observer that is told when this rank begins to wait for others in a blocking call (Request::wait(),
/// Communicator::split() ...), and when that wait ends.
class WaitListener {
 public:
  virtual ~WaitListener() = default;
  virtual void begin_wait() = 0;
  virtual void end_wait() = 0;
};

/// A message in flight. It must be complete, and so inactive, before it is destroyed or overwritten (checked by assert,
/// except while an exception unwinds).
class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request, WaitListener* listener = nullptr) : request_(request), listener_(listener) {}
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// True once the message is complete, or if it was never started. Makes progress on all messages of this rank.
  bool test();
  bool active() const { return request_ != MPI_REQUEST_NULL; }
  /// Waits until the message is complete, and yields the core to other ranks meanwhile. There is no time limit: the
  /// other rank may be reading or writing a file. For setup, checkpoints and shutdown, not for a step's hot path.
  void wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  WaitListener* listener_ = nullptr;
};

/// How a rank waits when ranks may outnumber cores: first it only tests again, then it yields its core to threads that
/// are ready, then it sleeps, each time twice as long up to 50 us. The first two keep the latency of messages low. The
/// sleeps leave the core to other ranks and to this rank's background threads, in waits that are long anyway.
class Backoff {
 public:
  void pause() {
    if (++num_pauses_ > kSpins) offer_core();
  }
  /// Whether pause() now gives the core to other threads. Such a pause lasts as long as they use the core.
  bool offers_core() const { return num_pauses_ > kSpins; }

 private:
  static constexpr std::int64_t kSpins = 2000;    // at about 0.1 us per test: below the length of a time slice
  static constexpr std::int64_t kYields = 20000;  // at 0.3 us or more per yield

  void offer_core() const;

  std::int64_t num_pauses_ = 0;
};

/// Ends waits for a rank that has died. srun then sends SIGTERM to the others, which here only requests a stop
/// (convoy/comm/stop_signals.h), so they would wait until they are killed. A wait therefore fails if it lasts 15 s, or
/// four times the longest wait so far, whichever is longer, after a SIGTERM.
class Patience {
 public:
  /// Called repeatedly during one wait. Throws Error if the wait has lasted too long since a SIGTERM.
  void check();
  /// Called when the wait has ended: remembers its length, if it is the longest so far.
  void remember() const;

 private:
  double began_seconds_ = 0,
         terminated_seconds_ = 0;  ///< when check() was first called, and when it first saw a SIGTERM; 0: never
};

/// Waits until `done()` is true. `done()` is called repeatedly and should make progress on what is awaited. For
/// messages of a step, which are late only while other ranks compute: throws Error as Patience::check() does.
template <typename Done>
void wait_until(Done&& done) {
  Patience patience;
  for (Backoff backoff; !done(); backoff.pause())
    if (backoff.offers_core()) patience.check();
  patience.remember();
}

/// A group of ranks. Copies refer to the same group. A group that was split from another ends with its last copy, on
/// all its ranks at the same point of the program: MPI has room for a limited number, 65,532 in Open MPI 4.
class Communicator {
 public:
  Communicator() = default;
  /// A group that lasts until MPI ends: the world.
  explicit Communicator(MPI_Comm comm);
  /// Returns the same group with a listener, which is told of waits in it and in the groups that are split from it.
  Communicator with(WaitListener& listener) const;

  int rank() const { return rank_; }
  int size() const { return size_; }
  MPI_Comm handle() const { return comm_; }

  /// Splits this group: ranks that give the same color form a new group, ordered by key. All ranks of this group call
  /// it.
  Communicator split(int color, int key) const;
  /// Returns the ranks of this group that are on this rank's node, in the group's order. All ranks of this group call
  /// it.
  Communicator split_by_node() const;

  // --- Started here, tested later. Buffers and counts must not change until the request is complete.
  //     A message has at most 2^31 - 1 bytes: more throws Error. Tags are from tags.h.
  Request start_send(const void* data, std::int64_t size_bytes, int to, int tag) const;
  Request start_receive(void* data, std::int64_t size_bytes, int from, int tag) const;
  /// Sums size() * part_count floats over the group; each rank receives its own part of the sums. All ranks of this
  /// group call it.
  Request start_reduce_scatter(const float* data, float* part, int part_count) const;
  /// Gathers the counts[r] values of each rank r at offsets[r] of every rank's `all`. All ranks of this group call it.
  Request start_all_gather(const double* part, double* all, std::span<const int> counts,
                           std::span<const int> offsets) const;
  /// Writes the maximum over the group into every rank's `result`. All ranks of this group call it.
  Request start_max(const std::int64_t* value, std::int64_t* result) const;

  /// Writes sums of integers over the group, element by element, into every rank's `result`. All ranks of this group
  /// call it.
  Request start_sum(std::span<const std::int64_t> values, std::span<std::int64_t> result) const;

  // --- Blocking: for the setup, checkpoints and the ends of epochs. Data of any size travel in messages of
  // `chunk_bytes`, as MPI counts with ints; all ranks of the group give the same `chunk_bytes` (tests use small ones).
  void barrier() const;
  void broadcast(void* data, std::int64_t size_bytes, int root, std::int64_t chunk_bytes = kChunkBytes) const;
  /// Returns the root's bytes on all ranks; what the others give is ignored.
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root) const;
  std::string broadcast(const std::string& text, int root) const;
  void send(const void* data, std::int64_t size_bytes, int to, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  void receive(void* data, std::int64_t size_bytes, int from, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  /// Returns each rank's bytes, one after the other in rank order, at the root; empty elsewhere. Parts may differ in
  /// size.
  std::vector<std::byte> gather(std::span<const std::byte> part, int root,
                                std::int64_t chunk_bytes = kChunkBytes) const;

 private:
  /// Far below the 2^31 - 1 bytes that an int counts, and long enough to cost nothing.
  static constexpr std::int64_t kChunkBytes = std::int64_t{1} << 30;

  Communicator make_part(MPI_Comm comm) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<const void> owner_;  ///< ends the group with its last copy; null for the world
  WaitListener* listener_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace convoy::mpi
