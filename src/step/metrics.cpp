/// Adds up the sums of all micro-batches in their order.
#include "step/metrics.h"

#include <cstring>

namespace convoy {

StepMetrics& StepMetrics::operator+=(const StepMetrics& other) {
  loss_sum += other.loss_sum;
  num_correct += other.num_correct;
  num_samples += other.num_samples;
  return *this;
}

StepMetrics MetricsChannel::collect() {
  StepMetrics metrics;
  for (std::span<const std::byte> left = channel_.collect(); !left.empty();
       left = left.subspan(sizeof(ops::LossSums))) {
    ops::LossSums sums;
    std::memcpy(&sums, left.data(), sizeof sums);
    metrics += {.loss_sum = sums.loss, .num_correct = sums.num_correct, .num_samples = sums.num_samples};
  }
  return metrics;
}

}  // namespace convoy
