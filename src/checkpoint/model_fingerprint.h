/// The fingerprint of the network that all ranks hold together, without bringing it to one of them.
#pragma once

#include <cstdint>

#include "step/rank_runtime.h"

namespace convoy {

/// Of parameters and running statistics: what io::fingerprint() gives for the checkpoint's model. Each replica reads
/// its slices of its stage. Between steps; all ranks of the world, all of which get it.
std::uint64_t model_fingerprint(RankRuntime& runtime);

}  // namespace convoy
