/// Handlers that only set flags.
#include "convoy/comm/stop_signals.h"

#include <atomic>
#include <csignal>

namespace convoy {

namespace {

// The only global state: a signal handler can reach nothing else. Any thread may run it, so it has to be atomic, and
// lock-free, for a lock may be held by the thread that was interrupted.
std::atomic<bool> g_stop_requested = false;
std::atomic<bool> g_terminated = false;
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
  if (signal == SIGTERM) g_terminated = true;
  if (signal == SIGINT) std::signal(SIGINT, SIG_DFL);  // the second Ctrl-C means it
  g_stop_requested = true;
}

}  // namespace

void catch_stop_signals() {
  for (const int signal : {SIGTERM, SIGUSR1, SIGINT}) std::signal(signal, on_signal);
}

bool stop_is_requested() {
  return g_stop_requested;
}

bool is_terminated() {
  return g_terminated;
}

}  // namespace convoy
