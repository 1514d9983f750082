/// A linear layer and the cross-entropy of its outputs, which are never whole in memory. It is for masked words, whose
/// vocabulary makes logits the largest tensor of a network.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// The ops::SampleScore of each sample, from the logits x w^T + b.
///   x (N,K,1,C)   labels (N,K,1,1) int32   w (V,C): NAME.weight   b (V): NAME.bias   y (N,1,1,3) float32
/// A sample's loss is the mean over its labels. Logits are float32; they are computed for one block of whole samples
/// after the other, in forward and again in backward. The weights' gradients are added up in the order of the blocks,
/// which depends on N and K only.
Value linear_cross_entropy(const std::string& name, const Value& x, const Value& labels, std::int64_t num_classes);

/// The number of samples per block: the largest divisor of num_samples that gives at most about 512 rows.
std::int64_t samples_of_block(std::int64_t num_samples, std::int64_t rows_of_sample);

}  // namespace convoy
