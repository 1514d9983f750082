/// What a network says of a picture and of its mirror image, as one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/metrics.h"

namespace convoy {

/// log((softmax(plain) + softmax(mirrored)) / 2), row by row (count, classes): logits of the mean probabilities. In
/// double; what is 0 in it counts as its least normal number. NaN where a row has a logit that is no number.
std::vector<float> mean_of_views(std::span<const float> plain, std::span<const float> mirrored,
                                 std::int64_t num_classes);

/// The loss and the hit of one sample by logits whose probabilities sum to 1; the first among equals counts, as in
/// ops::LossSums. `label` is a class.
StepMetrics score(std::span<const float> log_probabilities, std::int64_t label);

}  // namespace convoy
