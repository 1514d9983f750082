/// What train.freeze keeps as it is: parameters by patterns of their names.
#pragma once

#include <string>
#include <vector>

#include "convoy/model/network.h"

namespace convoy {

/// Patterns as a shell has them: '*' any text, '?' a character, [abc] one of them. Throws RequestError where one
/// matches no name (with the nearest that would), and where nothing is left to train.
void freeze_parameters(const std::vector<std::string>& patterns, Network& network);

}  // namespace convoy
