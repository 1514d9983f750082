/// Computes the fingerprint of the network's parameters without gathering them on one rank.
#pragma once

#include <cstdint>

#include "step/rank_runtime.h"

namespace convoy {

/// Returns, on all ranks, the fingerprint of parameters and running statistics: the same value as io::fingerprint() for
/// the tensors of a checkpoint. Each replica reads only its slices. All ranks of the grid call it, between steps.
std::uint64_t model_fingerprint(RankRuntime& runtime);

}  // namespace convoy
