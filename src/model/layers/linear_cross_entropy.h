/// A linear layer and the cross-entropy of its outputs (logits), of which only a part is in memory at a time. It is for
/// masked words: with a large vocabulary, their logits would be the largest tensor of the network.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// Adds y, the ops::SampleScore (loss, number of correct labels, number of labels) of each sample, from the logits
/// x w^T + b.
///   x (N,K,1,C)   labels (N,K,1,1) int32   w (V,C): NAME.weight   b (V): NAME.bias   y (N,1,1,3) float32
/// A sample's loss is the mean over its labels. Logits are float32. They are computed for a block of a few whole
/// samples at a time, in forward and again in backward. The weights' gradients are added up in the order of the blocks.
/// The size of a block depends on N and K only.
Value linear_cross_entropy(const std::string& name, const Value& x, const Value& labels, std::int64_t num_classes);

/// Returns the number of samples whose logits linear_cross_entropy() computes at a time: the largest divisor of
/// num_samples that gives at most 512 rows of logits, or 1.
std::int64_t samples_of_block(std::int64_t num_samples, std::int64_t rows_of_sample);

}  // namespace convoy
