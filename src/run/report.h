/// The texts that rank 0 prints: what is trained, the grid and its stages, progress, a line per epoch, metrics.
#pragma once

#include <string>

#include "convoy/base/progress_line.h"
#include "convoy/io/sample_store.h"

#include "plan/step_plan.h"
#include "run/run_log.h"
#include "step/metric_list.h"

namespace convoy {

struct Parameters;

/// Returns lines about the network, the data, the step and, if the number of samples is not 0, the epoch. They do not
/// depend on the layout.
std::string describe_work(const Parameters& params, const RuntimeSpec& spec, const io::DatasetInfo& data);

/// Returns the grid, then a row per stage: its cells, parameters, GFLOP per sample (forward and backward) and memory
/// per rank. `device` describes the device.
std::string describe_layout(const StepPlan& plan, const std::string& device);

/// Returns a sentence if only runs with the same number of replicas give the same bits, and why; empty if all do.
std::string describe_bound_bits(const StepPlan& plan);

/// The content of the progress line.
struct ProgressPoint {
  std::int64_t epoch = 0, num_epochs = 0;
  std::int64_t step = 0, num_steps = 0;  ///< steps done in this epoch, and number of its steps
  double loss = 0;
  double samples_per_second = 0;  ///< over all ranks; 0: not known yet
  double seconds_left = -1;       ///< time until the end of the run; negative: not known yet
};

/// Shows the progress in `line`. `kind` is the kind of input, input_kinds::kImages or kText.
void show(const ProgressPoint& point, const std::string& kind, ProgressLine& line);

/// Returns "loss 0.3021  top-1 88.20 %"; if the chosen metric needs all outputs, followed by "  macro F1 0.8123"; for
/// several objectives "loss 6.1000 (masked words 5.4000  21.30 %, next sentence 0.7000  52.10 %)". If no sample counts,
/// because all steps were skipped, the text says so. `list` has the metrics of the network.
std::string describe_metrics(const StepMetrics& metrics, const MetricList& list);

/// Returns the metrics of an evaluation that need all outputs, without those of each number, and names those that the
/// network does not have: "balanced accuracy 87.10 %, macro F1 0.8123\ntop-5 is left out: it needs at least 6 classes,
/// and the data has 2\n".
std::string describe_outputs(const StepMetrics& metrics, const MetricList& list);

/// Returns the line that is printed for an epoch. `kind` is the kind of input, input_kinds::kImages or kText. `list`
/// has the metrics of the network. `seconds_left` is the time until the end of the run; negative: not known.
std::string describe_epoch(const EpochRow& row, const std::string& kind, const MetricList& list,
                           std::int64_t num_epochs, double seconds_left);

}  // namespace convoy
