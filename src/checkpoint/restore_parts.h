/// Restores a checkpoint in parts: each rank reads only the files that hold values of its stage.
#pragma once

#include <string>

namespace convoy {

class RankRuntime;
namespace io {
struct Checkpoint;
}

/// Restores parameters, the optimizer's slots and the moving average from the files next to `path`. The checkpoint's
/// tensors are those of the runtime's network. Takes memory for one file, the stage's parameters and this rank's
/// shards. Throws Error naming the file if it cannot be read; RequestError if a value is not a number.
void restore_parts(const io::Checkpoint& checkpoint, const std::string& path, RankRuntime& runtime);

}  // namespace convoy
