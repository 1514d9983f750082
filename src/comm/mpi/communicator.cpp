/// Groups and messages on MPI. Every wait is a loop of tests that gives way: MPI's own blocking calls spin.
#include "convoy/comm/communicator.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <limits>
#include <utility>

#include <sched.h>
#include <time.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/comm/stop_signals.h"

#include "comm/mpi/check.h"
#include "comm/mpi/chunks.h"

namespace convoy::mpi {

namespace {

// A sleep is as long as the kernel's timer slack (50 us) allows, or a little longer.
constexpr std::int64_t kFirstSleepNanoseconds = 1'000;
constexpr std::int64_t kLongestSleepNanoseconds = 50'000;

// Half of the 30 s that Slurm leaves between SIGTERM and SIGKILL (KillWait): to wait longer would save nobody's time,
// and a loader, a GPU or a network that stalls for a while has long gone on. Where a step itself makes ranks wait
// (small machines, a pipeline's bubbles) it does so in every step: beyond four times the longest wait so far nothing
// will come.
constexpr double kLeastPatienceSeconds = 15;
constexpr double kPatienceRatio = 4;

// What is usual in this process, whichever object waits. Only the main thread speaks MPI.
double g_longest_wait_seconds = 0;

int message_count(std::int64_t size_bytes) {
  if (size_bytes > std::numeric_limits<int>::max()) {
    fail("A message of {} bytes is longer than MPI can count (2^31 - 1). A smaller batch.micro makes it shorter.",
         size_bytes);
  }
  return static_cast<int>(size_bytes);
}

// All ranks of the group.
std::int64_t reduce_to_all(std::int64_t value, MPI_Op op, MPI_Comm comm) {
  std::int64_t result = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Iallreduce(&value, &result, 1, MPI_INT64_T, op, comm, &request));
  Request(request).wait();
  return result;
}

}  // namespace

// --- Request -------------------------------------------------------------------------------------------------

Request::Request(Request&& other) noexcept : request_(std::exchange(other.request_, MPI_REQUEST_NULL)) {}

Request& Request::operator=(Request&& other) noexcept {
  assert((!active() || this == &other) && "a message under way was overwritten");
  request_ = std::exchange(other.request_, MPI_REQUEST_NULL);
  return *this;
}

Request::~Request() {
  assert((!active() || std::uncaught_exceptions() > 0) && "a message under way was forgotten");
}

bool Request::test() {
  if (!active()) return true;
  int complete = 0;
  CONVOY_CHECK_MPI(MPI_Test(&request_, &complete, MPI_STATUS_IGNORE));
  return complete != 0;
}

void Request::wait() {
  for (Backoff backoff; !test();) backoff.pause();
}

// --- Waiting -------------------------------------------------------------------------------------------------

void Backoff::give_way() const {
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
  const double limit = std::max(kLeastPatienceSeconds, kPatienceRatio * g_longest_wait_seconds);
  if (now_seconds() - terminated_seconds_ > limit)
    fail("Nothing came from another rank for {:.0f} s after SIGTERM: it has died, or hangs.", limit);
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

Communicator Communicator::split(int color, int key) const {
  MPI_Comm part = MPI_COMM_NULL;
  CONVOY_CHECK_MPI(MPI_Comm_split(comm_, color, key, &part));  // all ranks of this group
  return Communicator(part);
}

// --- Communicator: started, tested later ---------------------------------------------------------------------

Request Communicator::start_send(const void* data, std::int64_t size_bytes, int to, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Isend(data, message_count(size_bytes), MPI_BYTE, to, tag, comm_, &request));
  return Request(request);
}

Request Communicator::start_receive(void* data, std::int64_t size_bytes, int from, int tag) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Irecv(data, message_count(size_bytes), MPI_BYTE, from, tag, comm_, &request));
  return Request(request);
}

Request Communicator::start_reduce_scatter(const float* data, float* part, std::span<const int> counts) const {
  assert(counts.size() == static_cast<std::size_t>(size_));
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(
      MPI_Ireduce_scatter(data, part, counts.data(), MPI_FLOAT, MPI_SUM, comm_, &request));  // all ranks of this group
  return Request(request);
}

Request Communicator::start_all_gather(const double* part, double* all, std::span<const int> counts,
                                       std::span<const int> offsets) const {
  assert(counts.size() == static_cast<std::size_t>(size_) && offsets.size() == counts.size());
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Iallgatherv(part, counts[static_cast<std::size_t>(rank_)], MPI_DOUBLE, all, counts.data(),
                                   offsets.data(), MPI_DOUBLE, comm_, &request));  // all ranks of this group
  return Request(request);
}

Request Communicator::start_max(const std::int64_t* value, std::int64_t* result) const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Iallreduce(value, result, 1, MPI_INT64_T, MPI_MAX, comm_, &request));  // all ranks of this group
  return Request(request);
}

Request Communicator::start_sum(std::span<const std::int64_t> values, std::span<std::int64_t> result) const {
  assert(values.size() == result.size());
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Iallreduce(values.data(), result.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM,
                                  comm_, &request));  // all ranks of this group
  return Request(request);
}

// --- Communicator: blocking ----------------------------------------------------------------------------------

void Communicator::barrier() const {
  MPI_Request request = MPI_REQUEST_NULL;
  CONVOY_CHECK_MPI(MPI_Ibarrier(comm_, &request));  // all ranks of this group
  Request(request).wait();
}

void Communicator::broadcast(void* data, std::int64_t size_bytes, int root) const {
  broadcast_in_chunks(*this, data, size_bytes, root, kChunkBytes);  // all ranks of this group
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

void Communicator::send(const void* data, std::int64_t size_bytes, int to, int tag) const {
  send_in_chunks(*this, data, size_bytes, to, tag, kChunkBytes);
}

void Communicator::receive(void* data, std::int64_t size_bytes, int from, int tag) const {
  receive_in_chunks(*this, data, size_bytes, from, tag, kChunkBytes);
}

std::int64_t Communicator::max(std::int64_t value) const {
  return reduce_to_all(value, MPI_MAX, comm_);  // all ranks of this group
}

std::int64_t Communicator::sum(std::int64_t value) const {
  return reduce_to_all(value, MPI_SUM, comm_);  // all ranks of this group
}

std::vector<std::byte> Communicator::gather(std::span<const std::byte> part, int root) const {
  return gather_in_chunks(*this, part, root, kChunkBytes);  // all ranks of this group
}

}  // namespace convoy::mpi
