/// Restores a checkpoint in parts: each rank reads only the files that hold values of its stage.
#pragma once

#include <string>

namespace convoy {

class TrainingStep;
namespace io {
struct Checkpoint;
}

/// Restores parameters, the optimizer's slots and the moving average from the part files of the checkpoint at `path`.
/// The checkpoint must have the tensors of the network. All ranks of the grid call it. It takes host memory for one
/// file, the stage's parameters and this rank's slices. Throws Error naming the file if one cannot be read;
/// RequestError if a value is infinite or NaN.
void restore_parts(const io::Checkpoint& checkpoint, const std::string& path, TrainingStep& training);

}  // namespace convoy
