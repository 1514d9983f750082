/// From the arenas of all ranks to one checkpoint that knows nothing of the layout, and back onto any grid.
#pragma once

#include <string>

#include "convoy/io/checkpoint.h"

#include "train/engine.h"
#include "train/fit.h"

namespace convoy {

/// All ranks send their parameters and shards; rank 0 returns the model and optimizer parts, the others nothing in
/// them.
io::Checkpoint gather_checkpoint(const Engine& engine);

/// Every rank takes its part: the model as restore_weights() does, and if `with_optimizer` all that training goes on
/// with: the optimizer's slots, the number of updates, the moving average (which else begins at the model).
void restore_checkpoint(const io::Checkpoint& checkpoint, const std::string& where, bool with_optimizer,
                        Engine& engine);

/// Every rank takes its part of these weights. Throws RequestError listing what is missing, unexpected or of another
/// shape.
void restore_weights(const std::vector<io::NamedTensor>& tensors, const std::string& where, Engine& engine);

/// Every rank takes its part of those that fit, and initial values for the others. Throws RequestError where none fits.
Fit restore_what_fits(const std::vector<io::NamedTensor>& tensors, const std::string& where, const InitialSpec& initial,
                      Engine& engine);

/// Fills every parameter with its initial values.
void initialise_parameters(const InitialSpec& initial, Engine& engine);

}  // namespace convoy
