/// Weights from a file, whichever kind it is: a checkpoint of ours or safetensors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "convoy/io/safetensors.h"

namespace convoy {

/// Why no weights can be read from these bytes; nothing where they can.
std::optional<std::string> find_damage_in_weights(std::span<const std::byte> bytes, const std::string& where);

/// Parameters and running statistics, and for each batch norm how many steps it has seen, as PyTorch counts them.
/// Throws Error naming `where`.
io::StateDict decode_weights(std::span<const std::byte> bytes, const std::string& where);

}  // namespace convoy
