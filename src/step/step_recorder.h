/// Records when the instructions of a few steps ran, without slowing them down: memory is allocated before.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convoy/device/device.h"

namespace convoy {

/// The three times of an instruction, seconds of this rank's clock; see Span.
struct RecordedTimes {
  double begin = 0, ready = 0, end = 0;
};

/// Called in a step's order: begin_step, then for each instruction, if it waits, ready() or waited(), and
/// end_instruction. None allocates or waits.
class StepRecorder {
 public:
  /// Room for so many steps.
  StepRecorder(Device& device, std::int64_t instructions_a_step, std::int64_t num_steps);

  void begin_step();
  /// What the instruction waited for is there: what it issues from here on is work.
  void ready() { ready_marks_[index()] = set_mark(); }
  /// The instruction began with a wait of so many seconds of the host.
  void waited(double seconds);
  void end_instruction();

  std::int64_t num_steps() const { return num_steps_; }
  /// Of all instructions of the steps that were recorded, in order. Waits for the device.
  std::vector<RecordedTimes> read();

 private:
  static constexpr std::int64_t kNone = -1;

  std::size_t index() const { return static_cast<std::size_t>(num_instructions_); }
  std::int64_t set_mark();
  double ready_seconds(std::size_t index, double begin, double end, const std::vector<double>& marks) const;

  std::unique_ptr<Stopwatch> stopwatch_;
  std::int64_t num_marks_ = 0, num_steps_ = 0, num_instructions_ = 0;
  std::int64_t begin_mark_ = 0;                                      ///< of the instruction that runs
  double begin_seconds_ = 0;                                         ///< of it, on the host
  std::vector<std::int64_t> begin_marks_, ready_marks_, end_marks_;  ///< by instruction, through all steps
  std::vector<double> host_ready_;  ///< likewise: the end of a wait that the host has timed; 0 for none
};

}  // namespace convoy
