/// Hints for people who write a network's file as they write Python, or with the names of PyTorch's layers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace convoy {

/// Returns a sentence about what to write in place of a name that does not exist: that of the table, or else the
/// nearest of `names`. It begins with a blank; empty if nothing is near.
std::string hint_for_name(const std::string& name, const std::vector<std::string>& names);

/// Returns a sentence about the line of `text` that Lua's message "NAME:LINE: ... near 'WORD'" is about. It begins with
/// a full stop; empty if the line has no sign or word of the table.
std::string hint_for_syntax(std::string_view message, std::string_view text);

}  // namespace convoy
