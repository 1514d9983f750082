/// What is told of steps to timers, audits, traces and whatever else looks at them: of each instruction by the
/// executor, of each step of a training by the trainer.
#pragma once

#include <cstdint>

#include "convoy/schedule/bound_program.h"

namespace convoy {

/// An object that is told of each instruction of a step: by begin(), then by ready() if the instruction waits for
/// messages or other ranks, or by waited() if it loads samples, and at last by end(). Its members allocate no memory
/// and wait for no other rank.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;

  virtual void begin_step() {}
  /// The instruction begins. The receives that may start before it have started.
  virtual void begin(const Action&) {}
  /// The data that the instruction waited for have arrived: the device work issued from here on is its work.
  virtual void ready() {}
  /// The instruction loads samples, and the host has waited for them for `seconds`, which may be 0.
  virtual void waited(double /*seconds*/) {}
  /// The device work of the instruction is issued.
  virtual void end(const Action&) {}
};

/// The result of a training step, the same on all ranks.
enum class StepOutcome {
  kApplied,   ///< the weights were updated
  kOverflow,  ///< not applied: a gradient is too large for fp16 at this loss scale, which is then halved
  kBad,       ///< not applied: the loss or a gradient is infinite or NaN, or the loss is above its limit
  kWrong,     ///< not applied: the memory or the arithmetic of a rank is wrong (StepAudit)
};

/// A training step that was run.
struct StepResult {
  std::int64_t step = 0;  ///< number of the step, counted from 1
  double lr = 0;          ///< learning rate
  double seconds = 0;     ///< duration on this rank
  StepOutcome outcome = StepOutcome::kApplied;
};

/// Is told of each step of a training, between steps. All ranks of the grid call every member.
class StepObserver {
 public:
  virtual ~StepObserver() = default;

  /// Step number `step`, counted from 1, comes next.
  virtual void begin_step(std::int64_t /*step*/) {}
  virtual void end_step(const StepResult&) {}
  /// No more steps follow.
  virtual void finish() {}
};

}  // namespace convoy
