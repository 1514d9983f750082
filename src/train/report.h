/// What rank 0 tells the person: the grid and its stages at the start, progress, a line an epoch, a summary.
#pragma once

#include <string>

#include "convoy/base/progress_line.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

#include "train/run_log.h"
#include "train/step_plan.h"

namespace convoy {

/// The grid, then a row a stage: cells, parameters, GFLOP a sample (forward and backward), memory a rank.
std::string describe_run(const Parameters& params, const StepPlan& plan, const io::DatasetInfo& data,
                         const std::string& device);

struct ProgressPoint {
  std::int64_t epoch = 0, num_epochs = 0;
  std::int64_t step = 0, num_steps = 0;  ///< of this epoch
  double loss = 0;
  double images_per_second = 0;  ///< 0: not known yet
  double seconds_left = -1;      ///< negative: not known yet
};

/// A bar that is redrawn on a terminal; elsewhere a plain line now and then.
class Progress {
 public:
  bool is_due() const { return line_.is_due(); }
  void show(const ProgressPoint& point);
  /// A line of its own, above the bar.
  void line(const std::string& text) { line_.line(text); }

 private:
  ProgressLine line_;
};

/// `seconds_left` as in ProgressPoint.
std::string describe_epoch(const EpochRow& row, std::int64_t num_epochs, double seconds_left);

}  // namespace convoy
