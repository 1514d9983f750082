/// Describes networks without training them: what `convoy info` prints of them, and its picture.
#pragma once

#include <string>

#include "convoy/io/model_metadata.h"

namespace convoy {

struct Parameters;

/// Returns the parameters with a network in place of model.name and model.file: the path of a file that ends in .lua,
/// or a name.
Parameters with_network(const Parameters& params, const std::string& network);

/// Describes the network that the parameters name, for data.train, or else for described_data(): a table of its cells
/// (shape of the output, parameters, floating-point operations, memory of a sample), and the parameters that model.set
/// can change. Writes the picture info.draw, if it is given. Throws RequestError, also if the picture cannot be
/// written.
std::string describe_network(const Parameters& params);

/// The same for the network of a checkpoint, whose parameters cannot be changed and are not listed.
std::string describe_network(const Parameters& params, const io::ModelMetadata& metadata);

}  // namespace convoy
