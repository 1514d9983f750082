/// Stopping early on request: a signal to any rank, agreed on by all, at the end of a step.
#pragma once

#include <cstdint>

#include "convoy/comm/communicator.h"

namespace convoy {

/// The signals are those of catch_stop_signals().
class StopRequest {
 public:
  /// All ranks of the world: their first exchange starts, of what came before.
  explicit StopRequest(const mpi::Communicator& world);
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  /// After each step, all ranks of the world: whether any had been asked when agreed() was called before, or when this
  /// was made. The same answer everywhere, a step late so that nobody waits.
  bool agreed();
  /// Waits for the latest exchange; before the end.
  void finish();

 private:
  void start_exchange();

  const mpi::Communicator& world_;
  mpi::Request exchange_;
  std::int64_t mine_ = 0, any_ = 0;
};

}  // namespace convoy
