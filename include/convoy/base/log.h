/// Writes messages on standard error. Rank 0 writes for all ranks; an error is written by the rank that met it.
#pragma once

#include <functional>
#include <string_view>

namespace convoy {

/// Writes the line "convoy: warning: MESSAGE" to standard error. Never throws, since destructors call it, too.
void log_warning(std::string_view message) noexcept;

/// A function that is called with each warning of this process, by the thread that writes the warning. It must not call
/// log_warning().
using WarningListener = std::function<void(std::string_view message)>;
/// Replaces the function that is called with each warning; an empty function removes it. The first one also gets all
/// earlier warnings. Returns when no thread is in the former function any more.
void set_warning_listener(WarningListener listener);

/// Writes the line "convoy: MESSAGE" to standard error. Never throws.
void log_error(std::string_view message) noexcept;

}  // namespace convoy
