/// Stops a run early if a rank receives a signal: all ranks agree on it at the end of a step.
#pragma once

#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy {

/// Lets all ranks agree whether one of them has received a signal of catch_stop_signals().
class StopRequest {
 public:
  /// Starts the first exchange between ranks. All ranks of the world call it. `world` must outlive this object.
  explicit StopRequest(const mpi::Communicator& world);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// Whether any rank had received a signal before the previous call of agreed() (or before construction). All ranks of
  /// the world call it after each step, and get the same answer. It is one step late so that no rank waits for it.
  bool agreed();
  /// Waits for the last exchange. All ranks call it before this object is destroyed.
  void finish();

 private:
  void start_exchange();

  const mpi::Communicator& world_;
  mpi::Request exchange_;
  std::int64_t mine_ = 0, any_ = 0;
};

}  // namespace convoy
