/// Runs the training steps of a golden file on the device of this program, and tells how far they are from PyTorch's.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy::test {

/// Deviations of one kind: the largest and its place, their root mean square and their median.
class Deviation {
 public:
  void add(double value, const std::string& at);
  void expect_within(double tolerance, const char* kind) const;
  void expect_mean_within(double tolerance, const char* kind) const;
  void expect_median_within(double tolerance, const char* kind) const;

 private:
  double largest_ = 0;
  std::string where_ = "nowhere";
  std::vector<double> values_;
};

/// Relative deviations: of norms, and of single gradient values relative to the root mean square of their tensor.
struct Deviations {
  bool has_statistics = false;
  Deviation first_loss, logits, gradient_norms, gradient_values, statistics;
  Deviation later_losses, parameters, evaluation_logits;
};

struct GoldenSteps {
  std::string name;
  ScheduleKind schedule = ScheduleKind::k1F1B;
  PrecisionKind precision = PrecisionKind::kF32;
  bool first_alone = false;  ///< without the three later steps and the evaluation
};

/// Runs the steps on all ranks: one stage on one rank, otherwise two stages. The deviations are rank 0's.
Deviations run_golden(const GoldenSteps& steps);

}  // namespace convoy::test
