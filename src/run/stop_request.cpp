/// Computes one maximum over all ranks per step.
#include "run/stop_request.h"

#include "convoy/comm/stop_signals.h"

namespace convoy {

StopRequest::StopRequest(const mpi::Communicator& world) : world_(world) {
  start_exchange();
}

void StopRequest::start_exchange() {
  mine_ = stop_is_requested() ? 1 : 0;
  exchange_ = world_.start_max(&mine_, &any_);
}

void StopRequest::finish() {
  exchange_.wait();
}

bool StopRequest::agreed() {
  mpi::wait_until([this] { return exchange_.test(); });  // was started one step ago
  const bool stop = any_ != 0;
  start_exchange();
  return stop;
}

}  // namespace convoy
