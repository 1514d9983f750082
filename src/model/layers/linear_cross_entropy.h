/// A linear layer and the cross-entropy of its outputs, which are never whole in memory: of masked words, whose
/// vocabulary makes logits the largest tensor of a network.
#pragma once

#include <string>

#include "model/cell_builder.h"

namespace convoy {

/// The ops::SampleScore of each sample, by logits x w^T + b.
///   x (N,K,1,C)   labels (N,K,1,1) int32   w (V,C): NAME.weight   b (V): NAME.bias   y (N,1,1,3) float32
/// A sample's loss is the mean over its labels. Logits are float32; they are computed for a block of whole samples at a
/// time, in forward and again in backward, and the weights' gradients are added up in the order of the blocks, which
/// follows from N and K alone.
Value linear_cross_entropy(const std::string& name, const Value& x, const Value& labels, std::int64_t num_classes);

/// The samples of a block: the largest divisor of num_samples with about 512 rows at most.
std::int64_t samples_of_block(std::int64_t num_samples, std::int64_t rows_of_sample);

}  // namespace convoy
