/// Gives the memory of a list back before the list's end.
#pragma once

namespace convoy {

/// Empties the list, and gives back its memory, which `list = {}` and `clear()` keep.
template <typename List>
void release_memory(List& list) {
  List().swap(list);
}

}  // namespace convoy
