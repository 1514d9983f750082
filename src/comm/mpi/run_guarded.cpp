/// How a job ends: by agreement if all ranks left the body, by force if one failed and others may wait for it.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>
#include <unistd.h>

#include "convoy/base/clock.h"
#include "convoy/base/host_name.h"
#include "convoy/base/log.h"
#include "convoy/comm/memory_limits.h"
#include "convoy/comm/session.h"

namespace convoy::mpi {

namespace {

// Rank 0 waits this long for the others to refuse, too. The others wait a little longer: rank 0's message is the one to
// see.
constexpr double kRefusalSeconds = 10.0;
constexpr double kRefusalSecondsElsewhere = 12.0;
// A failure that all ranks share is printed by rank 0, which ends the others before they speak.
constexpr useconds_t kHeadStartMicroseconds = 250'000;
// MPI_Abort (or a failed single rank's MPI_Finalize) gets this long; on a network that is down it never returns.
constexpr unsigned kAbortTimerSeconds = 5;

// What MPI and its threads map into a process when it is started.
constexpr std::int64_t kMpiBytes = std::int64_t{300} << 20;

struct WorldPosition {
  int rank = 0;
  int size = 1;
};

bool mpi_is_up() {
  int started = 0;
  int ended = 0;
  return MPI_Initialized(&started) == MPI_SUCCESS && started != 0 && MPI_Finalized(&ended) == MPI_SUCCESS && ended == 0;
}

WorldPosition my_position() {
  WorldPosition position;
  if (!mpi_is_up()) return position;
  if (MPI_Comm_rank(MPI_COMM_WORLD, &position.rank) != MPI_SUCCESS) return {};
  if (MPI_Comm_size(MPI_COMM_WORLD, &position.size) != MPI_SUCCESS) return {};
  return position;
}

// Prints "convoy: MESSAGE" or, if `with_rank`, "convoy: rank 3 of 4 (node17): MESSAGE".
void print_error(const WorldPosition& position, bool with_rank, const char* message) noexcept {
  std::fflush(stdout);
  try {
    log_error(with_rank ? fmt::format("rank {} of {} ({}): {}", position.rank, position.size, host_name(), message)
                        : message);
  } catch (...) {  // no memory for the prefix
    log_error(message);
  }
}

volatile std::sig_atomic_t status_at_alarm = 1;

extern "C" void leave_now(int) {
  _exit(status_at_alarm);
}

// From here on the process ends in any case. An alarm rather than a thread: it needs no memory, which may be what
// failed.
void arm_abort_timer(ExitStatus status) noexcept {
  status_at_alarm = static_cast<int>(status);
  std::signal(SIGALRM, leave_now);
  alarm(kAbortTimerSeconds);
}

// Ends all ranks.
[[noreturn]] void abort_job(ExitStatus status) noexcept {
  arm_abort_timer(status);
  if (mpi_is_up()) MPI_Abort(MPI_COMM_WORLD, static_cast<int>(status));
  _exit(static_cast<int>(status));
}

// A single rank ends without MPI_Abort, as no other waits for it: MPI_Abort would add eight lines to the one that
// matters.
int end_failed(const char* message) noexcept {
  std::signal(SIGTERM, SIG_DFL);  // another rank's abort may end this one at once
  const WorldPosition position = my_position();
  if (position.rank != 0) usleep(kHeadStartMicroseconds);
  print_error(position, position.size > 1, message);
  if (position.size > 1) abort_job(ExitStatus::kFailed);
  arm_abort_timer(ExitStatus::kFailed);
  return static_cast<int>(ExitStatus::kFailed);
}

// The ranks' agreement on how the job ends, on a group of its own: whatever collective others still wait in, on any
// other group, cannot be mistaken for it.
class Agreement {
 public:
  // All ranks of world.
  explicit Agreement(const Communicator& world) : group_(world.split(0, world.rank())) {}

  // Every rank, when it has left the body; completes when all have.
  void start(bool refuses) {
    mine_ = refuses ? -group_.rank() : -group_.size();
    request_ = group_.start_max(&mine_, &first_);
  }

  bool reached() { return request_.test(); }
  void wait() { request_.wait(); }
  bool somebody_refuses() const { return first_ > -group_.size(); }
  bool is_speaker() const { return first_ == -group_.rank(); }  // the lowest rank that refuses

 private:
  Communicator group_;
  Request request_;
  std::int64_t mine_ = 0, first_ = 0;  // negative ranks: the maximum is the first one
};

// The body is done here; the status is that of the job.
int end_done(Agreement& agreement, ExitStatus status) {
  std::fflush(stdout);
  agreement.start(false);
  agreement.wait();
  return static_cast<int>(agreement.somebody_refuses() ? ExitStatus::kWrongRequest : status);
}

// A wrong request is seen by all ranks, and then all leave in peace. If only some see it (a file that one node lacks),
// the others may wait for a message that never comes: after some seconds the job is ended by force.
int end_refused(Agreement& agreement, const char* message) {
  std::signal(SIGTERM, SIG_DFL);
  std::fflush(stdout);
  const WorldPosition position = my_position();
  if (position.rank == 0) print_error(position, false, message);
  const double deadline = now_seconds() + (position.rank == 0 ? kRefusalSeconds : kRefusalSecondsElsewhere);
  agreement.start(true);
  bool all_left = false;
  wait_until([&] { return (all_left = agreement.reached()) || now_seconds() > deadline; });
  if (position.rank != 0 && (!all_left || agreement.is_speaker())) print_error(position, true, message);
  if (!all_left) abort_job(ExitStatus::kWrongRequest);
  return static_cast<int>(ExitStatus::kWrongRequest);
}

// What the exception says that is being handled, and which limit may be its cause.
std::string describe_failure() {
  std::string text;
  try {
    throw;
  } catch (const std::bad_alloc&) {
    text = "Out of memory. Use a smaller batch.micro, more stages, or fewer ranks per node.";
  } catch (const std::filesystem::filesystem_error& error) {
    text = fmt::format("{} cannot be used: {}.", error.path1().string(), error.code().message());
  } catch (const std::system_error& error) {
    text = error.what();
    if (error.code() == std::errc::resource_unavailable_try_again)
      text += ". The system gives this process no more threads: see ulimit -u, ulimit -v and the job's limits.";
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "An exception of a type unknown to convoy. Please report it.";
  }
  return text + describe_near_limits();
}

int end_by_exception() noexcept {
  try {
    return end_failed(describe_failure().c_str());
  } catch (...) {  // no memory for the text
    return end_failed("Out of memory.");
  }
}

int run_in_session(Session& session, const std::function<ExitStatus(Session&)>& body) {
  Agreement agreement(session.world());
  std::string refusal;
  try {
    check_launch(session.launch(), session.world().size());
    return end_done(agreement, body(session));
  } catch (const RequestError& error) {
    refusal = error.what();
  }
  return end_refused(agreement, refusal.c_str());
}

}  // namespace

int run_guarded(int argc, char** argv, const std::function<ExitStatus(Session&)>& body) {
  std::optional<Session> session;  // outlives the handlers: a failed job must not wait in MPI_Finalize
  try {
    if (const std::string doubt = describe_small_limits(kMpiBytes); !doubt.empty() && find_launch().rank == 0)
      log_warning(doubt);  // before MPI is started, which ends the process itself where it fails
    session.emplace(&argc, &argv);
    return run_in_session(*session, body);
  } catch (...) {
    return end_by_exception();
  }
}

int run_guarded_alone(const std::function<ExitStatus()>& body) {
  try {
    const ExitStatus status = body();
    const bool had_failed = std::ferror(stdout) != 0;
    const int error = std::fflush(stdout) != 0 ? errno : 0;
    if (error != EPIPE && (error != 0 || had_failed))  // a reader that closes is no error
      fail("cannot write to standard output{}", error != 0 ? ": " + std::generic_category().message(error) : "");
    return static_cast<int>(status);
  } catch (const RequestError& error) {
    print_error({}, false, error.what());
    return static_cast<int>(ExitStatus::kWrongRequest);
  } catch (...) {
    return end_by_exception();
  }
}

}  // namespace convoy::mpi
