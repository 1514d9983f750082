/// Standard output's terminal.
#pragma once

#include <optional>

namespace convoy {

/// Its width; nothing where standard output is not a terminal, or one without a size, as mpirun gives its ranks.
std::optional<int> terminal_columns();

}  // namespace convoy
