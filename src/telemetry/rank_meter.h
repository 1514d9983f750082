/// What a rank did with its time, without a trace: from sums that the step keeps anyway, and on a GPU from a few steps
/// that are recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "convoy/device/gpu_sensors.h"
#include "convoy/schedule/instruction.h"

#include "step/rank_runtime.h"
#include "step/step_recorder.h"

namespace convoy {

/// Time in seconds that a rank waited, by what it waited for.
struct RankWaits {
  double neighbours = 0;  ///< activations and gradients of neighbouring stages
  double sends = 0;       ///< what it sent to them had yet to leave its buffer
  double replicas = 0;    ///< exchanges with other replicas
  double samples = 0;     ///< samples of its own loader

  double total() const { return neighbours + sends + replicas + samples; }
};

/// What a rank did in some steps in a row. Travels as bytes.
struct RankSample {
  std::int64_t step = 0, num_steps = 0;  ///< the last of them, and their number
  double seconds = 0;                    ///< duration of these steps, without what is between them (checkpoints)
  RankWaits waits = {};                  ///< in these steps
  bool has_waits = true;
  std::int64_t resident_bytes = 0;  ///< resident memory of the process
  std::int64_t device_bytes = 0;    ///< on a GPU: memory of its buffers
  GpuReading gpu = {};

  double step_seconds() const { return seconds / static_cast<double>(num_steps); }
  double busy_seconds() const { return (seconds - waits.total()) / static_cast<double>(num_steps); }  ///< per step
};
static_assert(std::is_trivially_copyable_v<RankSample>);

/// Returns what recorded instructions have waited for. `list` has the instructions of a step, `times` those of whole
/// steps.
RankWaits waits_of(const StageProgram& list, std::span<const RecordedTimes> times);

class RankMeter {
 public:
  explicit RankMeter(RankRuntime& runtime);

  const GpuSensors* sensors() const { return sensors_ ? &*sensors_ : nullptr; }

  /// Called around each training step.
  void begin_step();
  void end_step(double seconds);
  /// Number of steps since the last take(). The first steps, in which caches fill, do not count.
  std::int64_t num_steps() const { return num_steps_; }
  /// Returns the sample of the steps since the last take(), of which `step` is the last. Reads memory and sensors.
  RankSample take(std::int64_t step);
  /// Ends a recording.
  void stop();

 private:
  RankWaits host_waits() const;
  void read_recorder();

  RankRuntime& runtime_;
  std::optional<GpuSensors> sensors_;  ///< on a GPU
  std::int64_t num_warm_ = 0, num_steps_ = 0;
  double seconds_ = 0;
  RankWaits waits_before_;  ///< by the host's clock, when the first of the steps began
  std::unique_ptr<StepRecorder> recorder_;
  std::optional<RankWaits> recorded_;  ///< on a GPU: mean per step of those that were recorded
};

}  // namespace convoy
