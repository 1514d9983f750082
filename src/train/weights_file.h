/// Weights from a file, whichever kind it is: a checkpoint of ours or safetensors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Why no weights can be read from these bytes; nothing where they can.
std::optional<std::string> find_damage_in_weights(std::span<const std::byte> bytes, const std::string& where);

struct FileWeights {
  io::StateDict dict;
  bool of_ema = false;                ///< they are a checkpoint's moving average
  std::optional<io::ModelCard> card;  ///< a checkpoint's
};

/// Parameters and running statistics, and for each batch norm how many steps it has seen, as PyTorch counts them; of a
/// checkpoint with a moving average that one, if `kind` says so. Throws as decode_checkpoint() does.
FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind);

}  // namespace convoy
