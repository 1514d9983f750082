/// Lines for the person at the terminal. Rank 0 writes for all ranks; an error is written by the rank that met it.
#pragma once

#include <string_view>

namespace convoy {

/// One line on standard error, "convoy: warning: ...". Never throws: destructors use it too.
void log_warning(std::string_view message) noexcept;

/// One line on standard error, "convoy: ...". Never throws.
void log_error(std::string_view message) noexcept;

}  // namespace convoy
