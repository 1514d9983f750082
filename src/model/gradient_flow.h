/// Plans how gradients flow back through the layers of a cell: the order of the layers, where each gradient lies, and
/// what is added up where a tensor has several readers.
#pragma once

#include "model/cell_graph.h"

namespace convoy {

/// Sets graph.backward, the places of all gradients, and the scratch that they need.
///
/// Layers run in the order opposite to forward. Where a tensor has several readers, its gradient is the sum of their
/// parts in the order in which they run: ((first + second) + third). A layer that can only add to its input's gradient
/// waits until another reader has written it.
/// Throws std::logic_error where there is no such reader.
void plan_gradients(CellGraph& graph);

}  // namespace convoy
