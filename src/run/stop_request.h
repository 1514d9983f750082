/// Stops a run early on request: a signal to any rank, on which all ranks agree at the end of a step.
#pragma once

#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Reacts to the signals of catch_stop_signals().
class StopRequest {
 public:
  /// Starts the first exchange, of the requests so far. All ranks of the world.
  explicit StopRequest(const mpi::Communicator& world);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Whether any rank had been asked to stop before the previous call of agreed(), or before construction. Called after
  /// each step by all ranks of the world; the answer is the same on all. It comes one step late so that no rank waits
  /// for it.
  bool agreed();
  /// Waits for the latest exchange; called before the end.
  void finish();

 private:
  void start_exchange();

  const mpi::Communicator& world_;
  mpi::Request exchange_;
  std::int64_t mine_ = 0, any_ = 0;
};

}  // namespace convoy
