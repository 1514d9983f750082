/// Groups and messages on MPI. Every wait is a loop of tests that yields the core: MPI's own blocking calls spin.
#include "convoy/comm/communicator.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <numeric>
#include <utility>

#include <sched.h>
#include <time.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/stop_signals.h"
#include "convoy/comm/tags.h"

#include "comm/mpi/check.h"

namespace convoy::mpi {

namespace {

// A sleep is as long as the kernel's timer slack (50 us) allows, or a little longer.
constexpr std::int64_t kFirstSleepNanoseconds = 1'000;
constexpr std::int64_t kLongestSleepNanoseconds = 50'000;

// Half of the 30 s that Slurm leaves between SIGTERM and SIGKILL (KillWait). Waiting longer would save no time, and a
// loader, a GPU or a network that stalls for a while has long continued by then. If the step itself makes ranks wait
// (small machines, a pipeline's bubbles), it does so in every step: beyond four times the longest wait so far nothing
// will come.
constexpr double kMinPatienceSeconds = 15;
constexpr double kPatienceRatio = 4;

// The longest wait of this process so far, by any object. Only the main thread calls MPI.
double g_longest_wait_seconds = 0;

/// A group that was split from another, and is freed. MPI_Comm_free is collective: it may wait for the other ranks.
/// While an exception unwinds they may never come to it, so the group is then left to the end of MPI.
class SplitGroup {
 public:
  explicit SplitGroup(MPI_Comm comm) : comm_(comm) {}
  ~SplitGroup() {
    int has_ended = 0;
    if (std::uncaught_exceptions() == 0 && MPI_Finalized(&has_ended) == MPI_SUCCESS && has_ended == 0)
      MPI_Comm_free(&comm_);
  }
  SplitGroup(const SplitGroup&) = delete;
  SplitGroup& operator=(const SplitGroup&) = delete;

 private:
  MPI_Comm comm_;
};

int message_count(std::int64_t size_bytes) {
  check_message_size(size_bytes);
  return static_cast<int>(size_bytes);
}

// Reduces each element by itself. All ranks of the group call it.
MPI_Request start_all_reduce(std::span<const std::int64_t> values, std::span<std::int64_t> result, MPI_Op op,
                             MPI_Comm comm) {
  assert(values.size() == result.size());
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(
      MPI_Iallreduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_INT64_T, op, comm, &request));
  return request;
}

// Calls move(offset_bytes, size_bytes) for one chunk after the other. An empty block is no message at all.
template <typename Move>
void for_each_chunk(std::int64_t size_bytes, std::int64_t chunk_bytes, Move&& move) {
  for (std::int64_t offset = 0; offset < size_bytes; offset += chunk_bytes)
    move(offset, std::min(chunk_bytes, size_bytes - offset));
}

}  // namespace

// --- Request -------------------------------------------------------------------------------------------------

Request::Request(Request&& other) noexcept
    : request_(std::exchange(other.request_, MPI_REQUEST_NULL)), listener_(other.listener_) {}

Request& Request::operator=(Request&& other) noexcept {
  assert((!active() || this == &other) && "a message in flight was overwritten");
  request_ = std::exchange(other.request_, MPI_REQUEST_NULL);
  listener_ = other.listener_;
  return *this;
}

Request::~Request() {
  assert((!active() || std::uncaught_exceptions() > 0) && "a message in flight was destroyed");
}

bool Request::test() {
  if (!active()) return true;
  int complete = 0;
  CONVOY_CHECK_MPI(MPI_Test(&request_, &complete, MPI_STATUS_IGNORE));
  return complete != 0;
}

void Request::wait() {
  if (test()) return;
  if (listener_ != nullptr) listener_->begin_wait();
  for (Backoff backoff; !test();) backoff.pause();
  if (listener_ != nullptr) listener_->end_wait();
}

// --- Waiting -------------------------------------------------------------------------------------------------

void Backoff::offer_core() const {
  const std::int64_t num_sleeps = num_pauses_ - kSpins - kYields;
  if (num_sleeps <= 0) {
    sched_yield();
    return;
  }
  // 1, 2, 4, ... us; the shift is bounded too, as waits can be long.
  const std::int64_t doubled = kFirstSleepNanoseconds << std::min<std::int64_t>(num_sleeps - 1, 16);
  const timespec duration = {.tv_sec = 0, .tv_nsec = std::min(doubled, kLongestSleepNanoseconds)};
  nanosleep(&duration, nullptr);
}

void Patience::check() {
  if (began_seconds_ == 0) began_seconds_ = now_seconds();
  if (!is_terminated()) return;
  if (terminated_seconds_ == 0) terminated_seconds_ = now_seconds();
  const double limit = std::max(kMinPatienceSeconds, kPatienceRatio * g_longest_wait_seconds);
  if (now_seconds() - terminated_seconds_ > limit)
    fail("No message came from another rank for {:.0f} s after SIGTERM: that rank has died or hangs.", limit);
}

void Patience::remember() const {
  if (began_seconds_ > 0) g_longest_wait_seconds = std::max(g_longest_wait_seconds, now_seconds() - began_seconds_);
}

// --- Communicator: groups ------------------------------------------------------------------------------------

Communicator::Communicator(MPI_Comm comm) : comm_(comm) {
  CONVOY_CHECK_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  CONVOY_CHECK_MPI(MPI_Comm_rank(comm, &rank_));
  CONVOY_CHECK_MPI(MPI_Comm_size(comm, &size_));
}

Communicator Communicator::with(WaitListener& listener) const {
  Communicator same = *this;
  same.listener_ = &listener;
  return same;
}

Communicator Communicator::make_part(MPI_Comm comm) const {
  Communicator part(comm);
  part.owner_ = std::make_shared<SplitGroup>(comm);
  part.listener_ = listener_;
  return part;
}

Communicator Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  if (listener_ != nullptr) listener_->begin_wait();
  CONVOY_CHECK_MPI(MPI_Comm_split(comm_, color, key, &part));  // all ranks of this group
  if (listener_ != nullptr) listener_->end_wait();
  return make_part(part);
}

Communicator Communicator::split_by_node() const {
  MPI_Comm node = MPI_COMM_NULL;
  if (listener_ != nullptr) listener_->begin_wait();
  CONVOY_CHECK_MPI(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &node));
  if (listener_ != nullptr) listener_->end_wait();
  return make_part(node);
}

// --- Communicator: started, tested later ---------------------------------------------------------------------

Request Communicator::start_send(const void* data, std::int64_t size_bytes, int to, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Isend(data, message_count(size_bytes), MPI_BYTE, to, tag, comm_, &request));
  return Request(request, listener_);
}

Request Communicator::start_receive(void* data, std::int64_t size_bytes, int from, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Irecv(data, message_count(size_bytes), MPI_BYTE, from, tag, comm_, &request));
  return Request(request, listener_);
}

Request Communicator::start_reduce_scatter(const float* data, float* part, int part_count) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Ireduce_scatter_block(data, part, part_count, MPI_FLOAT, MPI_SUM, comm_,
                                             &request));  // all ranks of this group
  return Request(request, listener_);
}

Request Communicator::start_all_gather(const double* part, double* all, std::span<const int> counts,
                                       std::span<const int> offsets) const {
  assert(counts.size() == static_cast<std::size_t>(size_) && offsets.size() == counts.size());
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Iallgatherv(part, counts[static_cast<std::size_t>(rank_)], MPI_DOUBLE, all, counts.data(),
                                   offsets.data(), MPI_DOUBLE, comm_, &request));  // all ranks of this group
  return Request(request, listener_);
}

Request Communicator::start_max(const std::int64_t* value, std::int64_t* result) const {
  return Request(start_all_reduce({value, 1}, {result, 1}, MPI_MAX, comm_), listener_);
}

Request Communicator::start_sum(std::span<const std::int64_t> values, std::span<std::int64_t> result) const {
  return Request(start_all_reduce(values, result, MPI_SUM, comm_), listener_);
}

// --- Communicator: blocking ----------------------------------------------------------------------------------

void Communicator::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Ibarrier(comm_, &request));  // all ranks of this group
  Request(request, listener_).wait();
}

void Communicator::broadcast(void* data, std::int64_t size_bytes, int root, std::int64_t chunk_bytes) const {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    MPI_Request request = MPI_REQUEST_NULL;
    CONVOY_CHECK_MPI(MPI_Ibcast(static_cast<std::byte*>(data) + offset, static_cast<int>(size), MPI_BYTE, root, comm_,
                                &request));  // all ranks of this group
    Request(request, listener_).wait();
  });
}

std::vector<std::byte> Communicator::broadcast(std::vector<std::byte> bytes, int root) const {
  std::int64_t size = std::ssize(bytes);
  broadcast(&size, sizeof(size), root);
  bytes.resize(size);
  broadcast(bytes.data(), size, root);
  return bytes;
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  const auto mine = std::as_bytes(std::span(text));
  const auto bytes = broadcast(std::vector<std::byte>(mine.begin(), mine.end()), root);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void Communicator::send(const void* data, std::int64_t size_bytes, int to, int tag, std::int64_t chunk_bytes) const {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    start_send(static_cast<const std::byte*>(data) + offset, size, to, tag).wait();
  });
}

void Communicator::receive(void* data, std::int64_t size_bytes, int from, int tag, std::int64_t chunk_bytes) const {
  for_each_chunk(size_bytes, chunk_bytes, [&](std::int64_t offset, std::int64_t size) {
    start_receive(static_cast<std::byte*>(data) + offset, size, from, tag).wait();
  });
}

std::int64_t Communicator::max(std::int64_t value) const {
  std::int64_t result = 0;
  start_max(&value, &result).wait();
  return result;
}

std::int64_t Communicator::sum(std::int64_t value) const {
  std::int64_t result = 0;
  start_sum({&value, 1}, {&result, 1}).wait();
  return result;
}

std::vector<std::byte> Communicator::gather(std::span<const std::byte> part, int root, std::int64_t chunk_bytes) const {
  const std::int64_t part_bytes = std::ssize(part);
  std::vector<std::int64_t> sizes(size_);
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Igather(&part_bytes, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, root, comm_,
                               &request));  // all ranks of this group
  Request(request, listener_).wait();
  if (rank_ != root) {
    send(part.data(), part_bytes, root, tags::kChunks, chunk_bytes);
    return {};
  }
  // One rank after the other, straight into its position: the whole is the only memory needed.
  std::vector<std::byte> whole(std::reduce(sizes.begin(), sizes.end()));
  std::byte* destination = whole.data();
  for (int from = 0; from < size_; ++from) {
    if (from != root) {
      receive(destination, sizes[from], from, tags::kChunks, chunk_bytes);
    } else if (part_bytes > 0) {
      std::memcpy(destination, part.data(), part.size());
    }
    destination += sizes[from];
  }
  return whole;
}

}  // namespace convoy::mpi
