/// What this rank is doing, written by the thread that trains and read by the one that answers for it when it stands
/// still.
#pragma once

#include <atomic>
#include <cstdint>

#include "convoy/schedule/instruction.h"

namespace convoy {

enum class Activity : std::uint8_t {
  kStarting,  ///< opens data, measures costs, plans
  kTraining,  ///< in a step, or between two
  kEvaluating,
  kSaving,  ///< a checkpoint, or waits until rank 0 has written it
  kEnding,
};

/// What an instruction needs that is not there yet. Which ranks that is follows from the instruction.
enum class Wait : std::uint8_t {
  kNothing,  ///< it computes
  kRanks,
  kSamples,  ///< its own loader's
  kDevice,
};

struct RankStatus {
  Activity activity = Activity::kStarting;
  Wait wait = Wait::kNothing;
  std::int64_t step = 0;  ///< that it works on; 0: none yet
  Instruction instruction;
  std::int64_t num_events = 0;  ///< grows with each instruction, wait and activity
  double standing_seconds = 0;  ///< since the last of them
};

/// Calls cost a few stores. A reader may see the parts of two neighbouring statuses: it only reads ranks that stand
/// still.
class StatusBoard {
 public:
  StatusBoard() { note(); }

  void enter(Activity activity);
  void begin_step(std::int64_t step);
  void begin(const Instruction& instruction);
  void wait_for(Wait wait);
  /// What it waited for is there.
  void go_on() { wait_for(Wait::kNothing); }

  RankStatus read() const;
  /// From the beginning of the step before this one to the beginning of this one; 0: there were not two yet.
  double step_seconds() const { return step_seconds_.load(std::memory_order_relaxed); }

 private:
  void note();

  std::atomic<Activity> activity_ = Activity::kStarting;
  std::atomic<Wait> wait_ = Wait::kNothing;
  std::atomic<Op> op_ = Op::kLoad;
  std::atomic<std::int64_t> step_ = 0, micro_batch_ = -1, bucket_ = kAllBuckets, chunk_ = 0, num_events_ = 0;
  std::atomic<double> since_ = 0, step_since_ = 0, step_seconds_ = 0;
};

}  // namespace convoy
