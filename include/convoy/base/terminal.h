/// Asks whether standard output and standard error are a terminal, and how wide it is.
#pragma once

#include <optional>

namespace convoy {

/// Whether `descriptor`, STDOUT_FILENO or STDERR_FILENO, is a terminal. For a rank that mpirun has started, whether
/// mpirun's own output is one.
bool is_terminal(int descriptor);

/// Returns the width of standard output's terminal in characters; nothing if standard output is no terminal, or one
/// without a size, as mpirun gives its ranks.
std::optional<int> terminal_columns();

/// Control characters that remove the terminal line in which the cursor is.
inline constexpr const char* kClearLine = "\r\033[K";

/// Sets whether a line without a line end, a progress bar, is on the terminal: text that is printed next must remove it
/// first.
void set_unfinished_line(bool is_there);
bool has_unfinished_line();

}  // namespace convoy
