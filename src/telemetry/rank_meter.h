/// What a rank did with its time, step by step, without a trace: sums that the step keeps anyway, and on a GPU a few
/// steps that are recorded.
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

/// Seconds in which a rank waited, by what for.
struct RankWaits {
  double neighbours = 0;  ///< activations and gradients of neighbouring stages
  double sends = 0;       ///< what it sent to them had yet to leave its buffer
  double replicas = 0;    ///< exchanges with other replicas
  double samples = 0;     ///< its own loader's

  double total() const { return neighbours + sends + replicas + samples; }
};

/// Of some steps in a row. Travels as bytes.
struct RankSample {
  std::int64_t step = 0, num_steps = 0;  ///< the last of them, and how many
  double seconds = 0;                    ///< in those steps; checkpoints, for example, lie between them
  RankWaits waits = {};                  ///< in those steps
  bool has_waits = true;
  std::int64_t resident_bytes = 0;  ///< of the process
  std::int64_t device_bytes = 0;    ///< on a GPU: in the buffers there
  GpuReading gpu = {};

  double step_seconds() const { return seconds / static_cast<double>(num_steps); }
  double busy_seconds() const { return (seconds - waits.total()) / static_cast<double>(num_steps); }  ///< of a step
};
static_assert(std::is_trivially_copyable_v<RankSample>);

/// What instructions that were recorded have waited for; `list` is a step's, `times` those of whole steps.
RankWaits waits_of(const StageProgram& list, std::span<const RecordedTimes> times);

class RankMeter {
 public:
  explicit RankMeter(RankRuntime& runtime);

  const GpuSensors* sensors() const { return sensors_ ? &*sensors_ : nullptr; }

  /// Around each training step.
  void begin_step();
  void end_step(double seconds);
  /// Since the last take(). The first steps, in which caches fill, do not count.
  std::int64_t num_steps() const { return num_steps_; }
  /// Of those steps, whose last one is `step`; reads memory and sensors.
  RankSample take(std::int64_t step);
  /// No step is recorded any more.
  void stop();

 private:
  RankWaits host_waits() const;
  void read_recorder();

  RankRuntime& runtime_;
  std::optional<GpuSensors> sensors_;  ///< on a GPU
  std::int64_t num_warm_ = 0, num_steps_ = 0;
  double seconds_ = 0;
  RankWaits waits_before_;  ///< of the host's clock, when the first of the steps began
  std::unique_ptr<StepRecorder> recorder_;
  std::optional<RankWaits> recorded_;  ///< on a GPU: of all steps, in proportion to those that were recorded
};

}  // namespace convoy
