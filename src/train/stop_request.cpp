/// Signal handling and agreement.
#include "train/stop_request.h"

#include <csignal>

namespace convoy {

namespace {

// The only global state: a signal handler can reach nothing else.
volatile std::sig_atomic_t g_stop_requested = 0;

void on_signal(int) {
  g_stop_requested = 1;
}

// The second Ctrl-C means it.
void on_interrupt(int) {
  g_stop_requested = 1;
  std::signal(SIGINT, SIG_DFL);
}

}  // namespace

StopRequest::StopRequest(const mpi::Communicator& world) : world_(world) {
  std::signal(SIGTERM, on_signal);
  std::signal(SIGUSR1, on_signal);
  std::signal(SIGINT, on_interrupt);
}

void StopRequest::finish() {
  exchange_.wait();
}

bool StopRequest::agreed() {
  exchange_.wait();  // started a step ago
  const bool stop = any_ != 0;
  mine_ = g_stop_requested;
  exchange_ = world_.start_max(&mine_, &any_);
  return stop;
}

}  // namespace convoy
