/// Defines groups of ranks and their messages. Calls for setup, checkpoints and the ends of epochs block; calls of a
/// step start a message, which is tested for completion later.
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

/// A message in flight, as MPI_Request. It must be complete, and so inactive, before it is destroyed or overwritten
/// (checked by assert, except while an exception unwinds the stack).
class Request {
 public:
  Request() = default;
  explicit Request(MPI_Request request, WaitListener* listener = nullptr) : request_(request), listener_(listener) {}
  Request(Request&& other) noexcept;
  Request& operator=(Request&& other) noexcept;
  ~Request();

  /// Returns true if the message is complete or was never started. Makes progress on all messages of this rank.
  bool test();
  bool active() const { return request_ != MPI_REQUEST_NULL; }
  /// Waits until the message is complete, and meanwhile yields the core to other ranks. There is no time limit: the
  /// other rank may be reading or writing a file. For setup, checkpoints and shutdown, not for the messages of a step.
  void wait();

 private:
  MPI_Request request_ = MPI_REQUEST_NULL;
  WaitListener* listener_ = nullptr;
};

/// The way in which a rank waits, since ranks may outnumber cores: first pause() returns at once, so that the caller
/// tests again; then it yields the core to threads that are ready; then it sleeps, each time twice as long, up to 50
/// us. The first two keep the latency of messages low. The sleeps leave the core to other ranks and to this rank's
/// background threads, in waits that are long anyway.
class Backoff {
 public:
  void pause() {
    if (++num_pauses_ > kSpins) offer_core();
  }
  /// Whether pause() now yields the core to other threads or sleeps. Such a pause lasts as long as they use the core.
  bool offers_core() const { return num_pauses_ > kSpins; }

 private:
  /// Number of pauses that only test again: at about 0.1 us each, together less than a time slice.
  static constexpr std::int64_t kSpins = 2000;
  /// Number of pauses that yield the core, which take 0.3 us or more each.
  static constexpr std::int64_t kYields = 20000;

  void offer_core() const;

  std::int64_t num_pauses_ = 0;
};

/// Ends a wait for a message of a rank that has died. When a rank dies, srun sends SIGTERM to the others, which here
/// only requests a stop (convoy/comm/stop_signals.h), so they would wait until they are killed. Therefore a wait fails
/// if it continues after a SIGTERM for more than 15 s, and for more than four times the longest wait so far.
class Patience {
 public:
  /// The caller calls this repeatedly during one wait. Throws Error if the wait has lasted too long since a SIGTERM.
  void check();
  /// The caller calls this when the wait has ended. It stores the wait's duration if it is the longest of this process
  /// so far.
  void remember() const;

 private:
  /// Times of the first check(), and of the first check() after a SIGTERM, in now_seconds(); 0: not yet.
  double began_seconds_ = 0, terminated_seconds_ = 0;
};

/// Waits until `done()` returns true. `done()` is called repeatedly and should make progress on the awaited messages.
/// For messages of a step, which are late only while other ranks compute. Throws Error if a SIGTERM has come and the
/// wait takes too long (Patience).
template <typename Done>
void wait_until(Done&& done) {
  Patience patience;
  for (Backoff backoff; !done(); backoff.pause())
    if (backoff.offers_core()) patience.check();
  patience.remember();
}

/// A group of ranks, an MPI communicator. Copies refer to the same communicator. A group that was split from another
/// ends with its last copy, on all its ranks at the same point of the program: MPI has room for a limited number,
/// 65,532 in Open MPI 4. Its functions, and those of Request, throw Error if MPI reports a failure.
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

  /// Splits this group: ranks that pass the same `color` form a new group, ordered by `key`. All ranks of this group
  /// call it.
  Communicator split(int color, int key) const;
  /// Returns the ranks of this group that are on this rank's node, in the group's order. All ranks of this group call
  /// it.
  Communicator split_by_node() const;

  // --- Calls that start a message, which the caller tests later. Buffers and counts must not change until the request
  //     is complete. A send or a receive has at most 2^31 - 1 bytes: more throws Error. Tags are from tags.h.
  Request start_send(const void* data, std::int64_t size_bytes, int to, int tag) const;
  Request start_receive(void* data, std::int64_t size_bytes, int from, int tag) const;
  /// Starts to sum size() * part_count floats over the group, in an order that MPI chooses; rank r receives part r of
  /// the sums, part_count floats. There may be at most 2^31 - 1 floats: reduction_count() checks it, this function does
  /// not. All ranks of this group call it.
  Request start_reduce_scatter(const float* data, float* part, int part_count) const;
  /// Starts to gather the counts[r] values of each rank r at all[offsets[r]] on every rank. All ranks of this group
  /// call it.
  Request start_all_gather(const double* part, double* all, std::span<const int> counts,
                           std::span<const int> offsets) const;
  /// Starts to write the maximum of *value over the group into *result on every rank. All ranks of this group call it.
  Request start_max(const std::int64_t* value, std::int64_t* result) const;

  /// Starts to write the sums of `values` over the group, element by element, into `result` on every rank. All ranks of
  /// this group call it.
  Request start_sum(std::span<const std::int64_t> values, std::span<std::int64_t> result) const;

  // --- Blocking calls for setup, checkpoints and the ends of epochs. All ranks of the group call them, except send and
  //     receive. Data of any size travel in messages of at most `chunk_bytes`, since MPI counts with ints; all ranks
  //     give the same `chunk_bytes` (tests use small ones).
  void barrier() const;
  void broadcast(void* data, std::int64_t size_bytes, int root, std::int64_t chunk_bytes = kChunkBytes) const;
  /// Returns the bytes of rank `root` on all ranks; the `bytes` of other ranks are ignored.
  std::vector<std::byte> broadcast(std::vector<std::byte> bytes, int root) const;
  std::string broadcast(const std::string& text, int root) const;
  void send(const void* data, std::int64_t size_bytes, int to, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  void receive(void* data, std::int64_t size_bytes, int from, int tag, std::int64_t chunk_bytes = kChunkBytes) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t sum(std::int64_t value) const;
  /// Returns the bytes of all ranks, one after the other in rank order, on rank `root`; empty on other ranks. Parts may
  /// differ in size.
  std::vector<std::byte> gather(std::span<const std::byte> part, int root,
                                std::int64_t chunk_bytes = kChunkBytes) const;

 private:
  /// Size of the messages into which large data are divided: far below the 2^31 - 1 bytes that an int can count, and so
  /// large that dividing costs nothing.
  static constexpr std::int64_t kChunkBytes = std::int64_t{1} << 30;

  Communicator make_part(MPI_Comm comm) const;

  MPI_Comm comm_ = MPI_COMM_NULL;
  std::shared_ptr<const void> owner_;  ///< ends the group with its last copy; null for the world
  WaitListener* listener_ = nullptr;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace convoy::mpi
