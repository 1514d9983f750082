/// Reads weights from a checkpoint of Convoy's or a safetensors file.
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

/// Throws RequestError naming the checkpoints in it if the path is a folder.
void check_is_no_folder(const std::string& path);

/// Returns a file's bytes, as read_checkpoint_file() or read_safetensors_file() do; for a checkpoint in parts, those of
/// a checkpoint that holds its weights itself, without the optimizer's state. Throws Error with the reason; for a
/// folder, and for a file of another known kind (PyTorch's .pth), the message says what to do.
std::vector<std::byte> read_weights_file(const std::string& path);

/// Throws RequestError naming the file and the tensor if a value is infinite or not a number, or a variance is
/// negative: every loss computed with it would not be a number, at any learning rate.
void check_values(const std::vector<io::NamedTensor>& tensors, const std::string& where);

struct FileWeights {
  io::StateDict dict;
  bool of_ema = false;                        ///< the weights are a checkpoint's moving average
  std::optional<io::ModelMetadata> metadata;  ///< of a checkpoint
  std::string parameters;                     ///< parameter file of a checkpoint's training, as render() wrote it
};

/// Decodes parameters and running statistics, and for each batch norm the number of steps that they have followed
/// (Checkpoint::counters; 0 if the file does not say). If a checkpoint has a moving average and `kind` asks for it, the
/// parameters are the average. `prefix` is removed from the names that begin with it (init.strip_prefix). Throws as
/// decode_checkpoint() and check_values() do; RequestError if no name begins with the prefix, or two names become the
/// same.
FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind,
                           const std::string& prefix = "");

}  // namespace convoy
