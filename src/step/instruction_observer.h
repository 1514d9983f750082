/// What an executor tells of the instructions that it runs: to recorders, audits, and whatever else looks at a step.
#pragma once

#include "convoy/schedule/bound_program.h"

namespace convoy {

/// Is told of each instruction of a step. For an instruction the calls come in the order in which they are declared;
/// ready() and waited() only if it waits. They allocate no memory and wait for no other rank.
class InstructionObserver {
 public:
  virtual ~InstructionObserver() = default;

  virtual void begin_step() {}
  /// The instruction begins. The receives that may start before it have started.
  virtual void begin(const Action&) {}
  /// The data that the instruction waited for have arrived: the device work issued from here on is its work.
  virtual void ready() {}
  /// The host waited at the begin of the instruction, for `seconds`.
  virtual void waited(double /*seconds*/) {}
  /// The device work of the instruction is issued.
  virtual void end(const Action&) {}
};

}  // namespace convoy
