/// A checkpoint in parts, read by all ranks: each only the files that hold values of its stage.
#pragma once

#include <string>

#include "convoy/io/checkpoint.h"

#include "step/rank_runtime.h"

namespace convoy {

/// Parameters, the optimizer's slots and the moving average, from the files beside `path`. The checkpoint's tensors are
/// those of the runtime's network. Takes memory for one file, the stage's parameters and this rank's shards. Throws
/// Error naming the file; RequestError where a value is no number.
void restore_parts(const io::Checkpoint& checkpoint, const std::string& path, RankRuntime& runtime);

}  // namespace convoy
