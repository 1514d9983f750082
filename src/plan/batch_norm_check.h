/// Checks whether the batch norms of a network that is to be trained see enough values to learn from.
#pragma once

#include <string>

#include "convoy/model/network.h"

namespace convoy {

/// Throws RequestError if a batch norm that is trained would compute mean and variance from one value per channel,
/// because its output would be the same for all samples. `network` was made from `spec`.
void check_batch_norms(const Network& network, const NetworkSpec& spec);

/// Returns a warning if a batch norm that is trained would compute them from two or three values per channel; else "".
std::string describe_few_values(const Network& network, const NetworkSpec& spec);

}  // namespace convoy
