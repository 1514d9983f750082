/// Computes the fingerprint of the network that all ranks hold together, without gathering it on one of them.
#pragma once

#include <cstdint>

#include "step/rank_runtime.h"

namespace convoy {

/// Returns, on all ranks, the fingerprint of parameters and running statistics: the same value as io::fingerprint() of
/// the checkpoint's model. Each replica reads its slices of its stage. All ranks of the world, between steps.
std::uint64_t model_fingerprint(RankRuntime& runtime);

}  // namespace convoy
