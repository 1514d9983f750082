/// Records when the instructions of a few steps ran, without slowing them down: memory is allocated before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/device/device.h"

namespace convoy {

/// The three times of an instruction, in seconds of this rank's clock; see Span.
struct RecordedTimes {
  double begin = 0, ready = 0, end = 0;
};

/// Records the times of instructions. Its members are called in this order: begin_step(), then for each instruction
/// ready() or waited(), if it waits, and end_instruction(). None of these allocates or waits.
class StepRecorder {
 public:
  /// Makes room for `num_steps` steps.
  StepRecorder(Device& device, std::int64_t instructions_per_step, std::int64_t num_steps);

  void begin_step();
  /// Called when what the instruction waited for has come: what it issues from here on is work.
  void ready() { ready_marks_[index()] = set_mark(); }
  /// Called if the instruction began with a wait of the host, which took `seconds`.
  void waited(double seconds);
  void end_instruction();

  std::int64_t num_steps() const { return num_steps_; }
  /// Returns the times of all instructions of the steps that were recorded, in order. Waits for the device.
  std::vector<RecordedTimes> read();

 private:
  static constexpr std::int64_t kNone = -1;

  std::size_t index() const { return static_cast<std::size_t>(num_instructions_); }
  std::int64_t set_mark();
  double ready_seconds(std::size_t index, double begin, double end, const std::vector<double>& marks) const;

  std::unique_ptr<Stopwatch> stopwatch_;
  std::int64_t num_marks_ = 0, num_steps_ = 0, num_instructions_ = 0;
  std::int64_t begin_mark_ = 0;  ///< the mark at which the instruction that runs began
  double begin_seconds_ = 0;     ///< when it began, on the host
  std::vector<std::int64_t> begin_marks_, ready_marks_, end_marks_;  ///< by instruction, through all steps
  std::vector<double> host_ready_;  ///< by instruction: the end of a wait that the host has timed; 0 for none
};

}  // namespace convoy
