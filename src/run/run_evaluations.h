/// Measures the network on a run's data sets while it trains, and decides which weights are the best.
#pragma once

#include <functional>
#include <optional>

#include "convoy/io/training_state.h"

#include "run/run_log.h"
#include "run/training_setup.h"
#include "step/evaluation_step.h"

namespace convoy {

/// The evaluations of a run. All ranks of the grid call every member; only rank 0 gets metrics.
class RunEvaluations {
 public:
  /// Says between steps whether to stop; the same on all ranks.
  using Stop = std::function<bool()>;

  /// The arguments must outlive this object. Made before the first step.
  RunEvaluations(TrainingSetup& setup, const RunData& data);

  /// Measures a data set, with the weights' moving average if evaluate.weights asks for it. Returns nothing if `stop`
  /// has returned true.
  std::optional<StepMetrics> measure(const io::Dataset& data, const Stop& stop);
  /// Measures data.test at the end of the training: with the weights of the best checkpoint, or the present ones if
  /// none is kept. Returns nothing if `stop` has returned true.
  std::optional<TestResult> measure_test_set(const io::TrainingState& state, const Stop& stop);
  /// Returns whether the value of train.metric is the best so far (or as good, at a lower loss), and notes it in the
  /// state: rank 0 decides.
  bool note_if_best(const StepMetrics& measured, io::TrainingState& state) const;

 private:
  TrainingSetup& setup_;
  const RunData& data_;
  EvaluationStep evaluation_;
  MetricList metrics_;
};

}  // namespace convoy
