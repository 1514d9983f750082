/// Trained weights for other programs.
#pragma once

#include "convoy/params/parameters.h"

namespace convoy {

/// Writes export.output: the weights of init.weights if it names a file, else of the newest checkpoint in
/// run.directory, as torchvision's load_state_dict takes them. Says what went where. One rank; throws RequestError
/// where there are none.
void export_weights(const Parameters& params);

}  // namespace convoy
