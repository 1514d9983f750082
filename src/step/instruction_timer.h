/// Takes the times at which each instruction ran in a few training steps. It does not slow them down: memory is
/// allocated before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/device/device.h"

#include "step/step_observer.h"

namespace convoy {

/// The three times of an instruction, in seconds of now_seconds(): when it began, when it stopped waiting (`begin` if
/// it did not wait), and when it ended.
struct InstructionTimes {
  double begin = 0, ready = 0, end = 0;
};

/// Records the times of instructions. Observes an executor.
class InstructionTimer final : public InstructionObserver {
 public:
  /// Allocates memory for `num_steps` steps.
  InstructionTimer(Device& device, std::int64_t instructions_per_step, std::int64_t num_steps);

  void begin_step() override;
  void ready() override { ready_marks_[index()] = set_mark(); }
  void waited(double seconds) override;
  void end(const Action&) override { end_instruction(); }
  void end_instruction();

  /// Number of steps that were begun.
  std::int64_t num_steps() const { return num_steps_; }
  /// Returns the times of all instructions, in their order, step after step. Waits for the device.
  std::vector<InstructionTimes> read();

 private:
  static constexpr std::int64_t kNone = -1;

  std::size_t index() const { return static_cast<std::size_t>(num_instructions_); }
  std::int64_t set_mark();
  double ready_seconds(std::size_t index, double begin, double end, const std::vector<double>& marks) const;

  std::unique_ptr<Stopwatch> stopwatch_;
  std::int64_t num_marks_ = 0, num_steps_ = 0, num_instructions_ = 0;
  std::int64_t begin_mark_ = 0;  ///< the mark at which the current instruction began
  double begin_seconds_ = 0;     ///< time at which it began on the host
  std::vector<std::int64_t> begin_marks_, ready_marks_, end_marks_;  ///< by instruction, step after step
  /// By instruction: end of its wait, if the host has measured it; 0: there was none.
  std::vector<double> host_ready_;
};

}  // namespace convoy
