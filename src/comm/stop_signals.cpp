/// Signal handlers, which only set flags and write a line.
#include "convoy/comm/stop_signals.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <initializer_list>
#include <string_view>

#include <unistd.h>

namespace convoy {

namespace {

// Global state, as a signal handler can reach nothing else. Any thread may run it, so it has to be atomic, and
// lock-free, for a lock may be held by the thread that was interrupted.
std::atomic<bool> g_stop_requested = false;
std::atomic<bool> g_terminated = false;
std::atomic<bool> g_says_so = false;
std::atomic<std::int64_t> g_first_interrupt = 0;  // when it came, nanoseconds; 0: not yet
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

std::int64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// A launcher may pass one Ctrl-C on twice, to a process and to its group: the second one of a person comes later.
void on_interrupt() {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t now = monotonic_nanoseconds();
  std::int64_t first = 0;
  if (g_first_interrupt.compare_exchange_strong(first, now) || now - first < kSecond) return;
  std::signal(SIGINT, SIG_DFL);
  std::raise(SIGINT);
}

void on_signal(int signal) {
  if (signal == SIGTERM) g_terminated = true;
  if (signal == SIGINT) on_interrupt();
  if (g_stop_requested.exchange(true) || !g_says_so) return;
  // A line of its own, below a progress bar. Nothing can be done where it cannot be written.
  constexpr std::string_view kLine = "\nconvoy: asked to stop: the run ends after the next step, with a checkpoint\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kLine.data(), kLine.size());
}

std::atomic<int> g_crash_status = 1;

void on_crash(int) {
  _exit(g_crash_status);
}

}  // namespace

void end_crashes_with(ExitStatus status) {
  g_crash_status = static_cast<int>(status);
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL}) std::signal(signal, on_crash);
}

void catch_stop_signals(bool says_so) {
  g_says_so = says_so;
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) std::signal(signal, on_signal);
}

bool stop_is_requested() {
  return g_stop_requested;
}

bool is_terminated() {
  return g_terminated;
}

}  // namespace convoy
