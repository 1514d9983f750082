/// What this rank is doing. The thread that computes writes it; the watchdog's thread reads it, also while the other
/// makes no progress.
#pragma once

#include <atomic>
#include <cstdint>

#include "convoy/comm/communicator.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

/// The part of a command that a rank is in.
enum class Activity : std::uint8_t {
  kStarting,     ///< it reads weights and makes its plan
  kImporting,    ///< it converts files into a data set
  kOpeningData,  ///< it opens the files that samples are read from
  kPlanning,     ///< it measures costs and chooses a layout
  kTraining,
  kEvaluating,
  kSaving,  ///< it writes a checkpoint, or waits until rank 0 has written it
  kEnding,  ///< its command is done, and it waits until all ranks end MPI
};

/// What a rank waits for.
enum class Wait : std::uint8_t {
  kNothing,  ///< it computes
  kRanks,    ///< it waits for other ranks: in a step those that its instruction needs, otherwise all
  kSamples,  ///< it waits until its own loader has samples ready
  kDevice,   ///< it waits until its GPU has done the work that was issued
};

/// What a rank does.
struct RankStatus {
  std::int64_t replica = -1, stage = -1;  ///< its position in the grid; -1: it has none yet
  Activity activity = Activity::kStarting;
  Wait wait = Wait::kNothing;
  bool in_step = false;
  std::int64_t step = 0;        ///< number of the last training step that it began; 0: none yet
  Instruction instruction;      ///< the current instruction, if in_step
  double standing_seconds = 0;  ///< time since its last instruction, wait or activity began; negative: not known
};

/// Holds a rank's status. A call costs a few stores to memory. While the status changes, a reader may see a mixture of
/// the old and the new one; if the rank makes no progress, it sees the right one.
class StatusBoard : public mpi::WaitListener {
 public:
  StatusBoard() { note(); }

  /// Sets the rank's position in the grid.
  void take_place(std::int64_t replica, std::int64_t stage);
  /// Notes that the rank has no position in a grid any more.
  void leave_place() { take_place(-1, -1); }
  /// Begins an activity.
  void enter(Activity activity);
  /// Begins training step number `step`, counted from 1.
  void begin_step(std::int64_t step);
  /// Begins an instruction of a training or evaluation step.
  void begin(const Instruction& instruction);
  void end_step();
  /// Begins a wait.
  void wait_for(Wait wait);
  /// Ends a wait: the rank has received what it waited for.
  void go_on() { wait_for(Wait::kNothing); }

  void begin_wait() override { wait_for(Wait::kRanks); }
  void end_wait() override { go_on(); }

  RankStatus read() const;
  /// Time in seconds between the beginnings of the last two training steps; 0: not known yet.
  double step_seconds() const { return step_seconds_; }

 private:
  void note();

  std::atomic<Activity> activity_ = Activity::kStarting;
  std::atomic<Wait> wait_ = Wait::kNothing;
  std::atomic<bool> in_step_ = false;
  std::atomic<Op> op_ = Op::kLoad;
  std::atomic<std::int64_t> replica_ = -1, stage_ = -1, step_ = 0;
  std::atomic<std::int64_t> micro_batch_ = -1, bucket_ = kAllBuckets, chunk_ = 0;
  std::atomic<double> since_ = 0, step_since_ = 0, step_seconds_ = 0;
};

/// Enters an activity; at the end of the scope enters the previous one again.
class ScopedActivity {
 public:
  ScopedActivity(StatusBoard& board, Activity activity) : board_(board), before_(board.read().activity) {
    board_.enter(activity);
  }
  ~ScopedActivity() { board_.enter(before_); }
  ScopedActivity(const ScopedActivity&) = delete;
  ScopedActivity& operator=(const ScopedActivity&) = delete;

 private:
  StatusBoard& board_;
  Activity before_;
};

}  // namespace convoy
