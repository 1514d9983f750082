/// Draws a network as a picture for people: the chain of its cells, and the layers of each kind of cell.
#pragma once

#include <string>

#include "convoy/base/input_shape.h"
#include "convoy/base/target.h"
#include "convoy/model/network_list.h"

namespace convoy {

/// Returns an SVG. On the left are the cells in the order of forward, with the shapes between them; neighbours of one
/// kind share a box. On the right are the layers of the first cell of each kind, with shapes and skip connections.
/// Cells are of one kind if they have the same layers, whatever the numbers of channels. `name` is the network's,
/// `input` the shape of a sample, and `target` what it has to answer. Throws RequestError if the list is not possible
/// for such samples.
std::string draw_network(const std::string& name, const NetworkList& list, const InputShape& input,
                         const Target& target = {});

}  // namespace convoy
