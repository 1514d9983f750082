/// Reads weights from a checkpoint of Convoy or from a safetensors file.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/model_metadata.h"
#include "convoy/io/safetensors.h"
#include "convoy/params/choices.h"

namespace convoy {

/// Throws RequestError if `path` is a folder. The message names checkpoints in it.
void check_is_no_folder(const std::string& path);

/// Returns the bytes of a checkpoint or safetensors file. For a checkpoint in parts, returns the bytes of a checkpoint
/// that holds its weights itself, without the optimizer state. Throws Error with the reason; if `path` is a folder, or
/// a file of another known kind (PyTorch's .pth), the message says what to do.
std::vector<std::byte> read_weights_file(const std::string& path);

/// Throws RequestError naming the file (`where`) and the tensor if a value is infinite or NaN, or a running variance is
/// negative: every loss computed with it would be NaN.
void check_values(const std::vector<io::NamedTensor>& tensors, const std::string& where);

/// The content of a file of weights.
struct FileWeights {
  io::StateDict dict;                         ///< the tensors, and the counters of batch norms
  bool of_ema = false;                        ///< whether the tensors are the moving average of a checkpoint
  std::optional<io::ModelMetadata> metadata;  ///< only of a checkpoint
  /// The parameter file of a checkpoint's training, as render() wrote it; empty for safetensors.
  std::string parameters;
};

/// Decodes the bytes of read_weights_file(). For each batch norm it also returns the number of steps that its
/// statistics have followed (Checkpoint::counters; 0 if the file does not say). If `kind` asks for the moving average
/// and the checkpoint has one, the tensors are the average. `prefix` is removed from the names that begin with it
/// (init.strip_prefix); RequestError if no name begins with it, or if two names become the same. Also throws as
/// decode_checkpoint() and check_values() do.
FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind,
                           const std::string& prefix = "");

}  // namespace convoy
