/// From the arenas of all ranks to one checkpoint that knows nothing of the layout, and back onto any grid.
#pragma once

#include <string>

#include "convoy/io/checkpoint.h"

#include "train/engine.h"

namespace convoy {

/// All ranks send their parameters and shards; rank 0 returns the model and optimizer parts, the others nothing in
/// them.
io::Checkpoint gather_checkpoint(const Engine& engine);

/// Every rank takes its part: the model, and the optimizer's slots if `with_optimizer`. Throws RequestError naming
/// `where` and the tensors that are missing, unexpected or of another shape.
void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, bool with_optimizer,
                        Engine& engine);

/// Fills every parameter with its initial values.
void initialise_parameters(std::uint64_t seed, Engine& engine);

}  // namespace convoy
