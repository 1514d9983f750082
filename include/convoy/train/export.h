/// Trained weights for other programs.
#pragma once

#include "convoy/params/parse.h"

namespace convoy {

/// Writes export.output: the weights of the newest checkpoint in run.directory, or of the file that the command line
/// names, as torchvision's load_state_dict takes them. Says what went where. One rank; throws RequestError where there
/// are none.
void export_weights(const Request& request);

}  // namespace convoy
