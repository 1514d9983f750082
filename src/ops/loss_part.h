/// Adds up the parts of a sample's loss, for the code of every device.
#pragma once

#include <cstdint>

#include "convoy/ops/sample_cross_entropy.h"

#include "ops/formula.h"

namespace convoy::ops {

/// The numbers that one row of logits, or a few outputs with targets, add to a loss. A row or target that does not
/// count adds zeros.
struct LossPart {
  double loss = 0;
  std::int32_t num_correct = 0, num_labels = 0;
};

/// Returns the score of a sample: its `count` parts are added in their order, and the loss is divided by the number of
/// labels.
CONVOY_FORMULA SampleScore score_of(const LossPart* parts, std::int64_t count) {
  double loss = 0, num_correct = 0, num_labels = 0;  // whole numbers are exact in double
  for (std::int64_t i = 0; i < count; ++i) {
    loss += parts[i].loss;
    num_correct += parts[i].num_correct;
    num_labels += parts[i].num_labels;
  }
  return {static_cast<float>(num_labels > 0 ? loss / num_labels : 0.0), static_cast<float>(num_correct),
          static_cast<float>(num_labels)};
}

}  // namespace convoy::ops
