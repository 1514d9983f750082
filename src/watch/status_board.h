/// What this rank is doing: written by the thread that works, read by the one that answers for it when it stands still.
#pragma once

#include <atomic>
#include <cstdint>

#include "convoy/comm/communicator.h"
#include "convoy/schedule/instruction.h"

namespace convoy {

enum class Activity : std::uint8_t {
  kStarting,     ///< reads weights, makes its plan
  kImporting,    ///< converts files into a data set
  kOpeningData,  ///< the files that samples are read from
  kPlanning,     ///< measures costs and chooses a layout
  kTraining,
  kEvaluating,
  kSaving,  ///< a checkpoint, or waits until rank 0 has written it
  kEnding,  ///< its command is done: it waits until all ranks end MPI
};

/// What a rank waits for.
enum class Wait : std::uint8_t {
  kNothing,  ///< it computes
  kRanks,    ///< other ranks: in a step its instruction tells which, elsewhere all
  kSamples,  ///< samples of its own loader
  kDevice,
};

struct RankStatus {
  std::int64_t replica = -1, stage = -1;  ///< its place in the grid; -1: it has none yet
  Activity activity = Activity::kStarting;
  Wait wait = Wait::kNothing;
  bool in_step = false;
  std::int64_t step = 0;        ///< the last step that was begun; 0: none yet
  Instruction instruction;      ///< the current one, in a step
  double standing_seconds = 0;  ///< since the last instruction, wait or activity began; below 0: not known
};

/// Holds a rank's status. Calls cost a few stores. A reader may see parts of two neighbouring statuses, but not of a
/// rank that stands still.
class StatusBoard : public mpi::WaitListener {
 public:
  StatusBoard() { note(); }

  void take_place(std::int64_t replica, std::int64_t stage);
  /// Notes that the rank has no place in a grid any more.
  void leave_place() { take_place(-1, -1); }
  void enter(Activity activity);
  void begin_step(std::int64_t step);
  void begin(const Instruction& instruction);
  void end_step();
  void wait_for(Wait wait);
  /// Ends a wait: what the rank waited for has come.
  void go_on() { wait_for(Wait::kNothing); }

  void begin_wait() override { wait_for(Wait::kRanks); }
  void end_wait() override { go_on(); }

  RankStatus read() const;
  /// Time in seconds from the beginning of the step before this one to the beginning of this one; 0: not known yet.
  double step_seconds() const { return step_seconds_.load(std::memory_order_relaxed); }

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

/// Enters an activity, and the one before it again at the end of the scope.
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
