/// The terminal that standard output and standard error may be.
#pragma once

#include <optional>

namespace convoy {

/// Whether STDOUT_FILENO or STDERR_FILENO is a terminal. Of a rank that mpirun has started, mpirun's own counts.
bool is_terminal(int descriptor);

/// The width of standard output's terminal; nothing if standard output is no terminal, or one without a size, as mpirun
/// gives its ranks.
std::optional<int> terminal_columns();

/// Removes the line that is being drawn.
inline constexpr const char* kClearLine = "\r\033[K";

/// A line without an end, a progress bar, is on the terminal: text that is printed next must remove it first.
void set_unfinished_line(bool is_there);
bool has_unfinished_line();

}  // namespace convoy
