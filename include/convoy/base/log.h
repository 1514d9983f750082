/// Lines for the person at the terminal. Rank 0 writes for all ranks; an error is written by the rank that met it.
#pragma once

#include <functional>
#include <string_view>

namespace convoy {

/// One line on standard error, "convoy: warning: ...". Never throws: destructors use it too.
void log_warning(std::string_view message) noexcept;

/// Is given each warning of this process, too, by the thread that warns. It warns of nothing itself.
using WarningListener = std::function<void(std::string_view message)>;
/// Replaces the listener; an empty one removes it. The first listener also gets the earlier warnings. Returns when no
/// thread is in the one before any more.
void set_warning_listener(WarningListener listener);

/// One line on standard error, "convoy: ...". Never throws.
void log_error(std::string_view message) noexcept;

}  // namespace convoy
