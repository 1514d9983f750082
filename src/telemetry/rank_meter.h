/// Measures what a rank does with its time, without a trace: on a CPU from sums that each step keeps anyway, on a GPU
/// from a few timed steps.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include "convoy/device/gpu_sensors.h"
#include "convoy/schedule/instruction.h"

#include "step/instruction_timer.h"
#include "step/training_step.h"

namespace convoy {

/// Measurements of a rank over consecutive training steps. Sent between ranks as its bytes in memory.
struct RankSample {
  std::int64_t step = 0, num_steps = 0;  ///< number of the last of these steps, and how many they are
  double seconds = 0;     ///< duration of these steps, without the time between them (checkpoints, evaluations)
  RankWaits waits = {};   ///< waits in all these steps together
  bool has_waits = true;  ///< whether `waits` is known: on a GPU not if no step could be timed
  std::int64_t resident_bytes = 0;  ///< resident memory of the process (RSS)
  std::int64_t device_bytes = 0;    ///< size of the buffers in GPU memory; 0 on a CPU
  GpuReading gpu = {};

  /// Mean duration of a step, in seconds.
  double step_seconds() const { return seconds / static_cast<double>(num_steps); }
  /// Mean time per step without waits, in seconds.
  double busy_seconds() const { return (seconds - waits.total()) / static_cast<double>(num_steps); }
};
static_assert(std::is_trivially_copyable_v<RankSample>);

/// Returns the waits of timed instructions by cause, in seconds. `list` has the instructions of one step, `times`
/// the times of one or several whole steps.
RankWaits waits_of(const StageProgram& list, std::span<const InstructionTimes> times);

/// Measures this rank.
class RankMeter {
 public:
  /// `training` must outlive this object.
  explicit RankMeter(TrainingStep& training);

  /// The sensors of this rank's GPU; null if it computes on a CPU.
  const GpuSensors* sensors() const { return sensors_ ? &*sensors_ : nullptr; }

  /// Called before each training step.
  void begin_step();
  /// Called after each training step, which took `seconds`.
  void end_step(double seconds);
  /// Number of steps since the last take(). The first steps of a run (warm-up) do not count.
  std::int64_t num_steps() const { return num_steps_; }
  /// Returns the measurements of the steps since the last take(), the last of which is step number `step`. Reads the
  /// memory of the process and the sensors.
  RankSample take(std::int64_t step);
  /// Ends the timing of steps, if it has begun.
  void stop();

 private:
  void read_timer();

  TrainingStep& training_;
  RankRuntime& runtime_;
  std::optional<GpuSensors> sensors_;  ///< empty if the device is a CPU
  std::int64_t num_warm_ = 0, num_steps_ = 0;
  double seconds_ = 0;
  RankWaits waits_before_;  ///< the executor's waits at the begin of the measured steps
  std::unique_ptr<InstructionTimer> timer_;
  std::optional<RankWaits> waits_;  ///< on a GPU: waits per step, the mean over the timed steps
};

}  // namespace convoy
