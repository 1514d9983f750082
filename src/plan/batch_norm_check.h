/// Whether the batch norms of a network that is to be trained see enough values to learn from.
#pragma once

#include <string>

#include "convoy/model/network.h"

namespace convoy {

/// Throws RequestError where a batch norm that is trained would take mean and variance of one value per channel: its
/// output would be the same for all samples. `spec`: what the network was made from.
void check_batch_norms(const Network& network, const NetworkSpec& spec);

/// A warning where such a batch norm takes them of two or three values; else empty.
std::string describe_few_values(const Network& network, const NetworkSpec& spec);

}  // namespace convoy
