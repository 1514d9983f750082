/// Reads weights from a file of either kind: a checkpoint of Convoy's or safetensors.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/checkpoint.h"
#include "convoy/io/safetensors.h"
#include "convoy/params/parameters.h"

namespace convoy {

/// Throws RequestError where the path is a folder, naming checkpoints in it.
void check_is_no_folder(const std::string& path);

/// A file's bytes, as read_checkpoint_file() or read_safetensors_file() gives them; of a checkpoint in parts those of
/// one that holds its weights itself, without the optimizer. Throws Error with the reason; of a folder, and of a file
/// of another kind that is known (PyTorch's .pth), it says what to do.
std::vector<std::byte> read_weights_file(const std::string& path);

/// Throws RequestError naming the file and the tensor where a value is infinite or not a number, or a variance is
/// negative: every loss computed with it would be none, whatever the learning rate.
void check_values(const std::vector<io::NamedTensor>& tensors, const std::string& where);

struct FileWeights {
  io::StateDict dict;
  bool of_ema = false;                        ///< they are a checkpoint's moving average
  std::optional<io::ModelMetadata> metadata;  ///< a checkpoint's
  std::string parameters;                     ///< a checkpoint's, of its training, as render() wrote them
};

/// Parameters and running statistics, and for each batch norm how many steps they have followed (Checkpoint::counters;
/// 0 where the file does not say); of a checkpoint with a moving average that one, if `kind` says so. `prefix` is
/// removed from the names that begin with it (init.strip_prefix). Throws as decode_checkpoint()
/// and check_values() do; RequestError where no name begins with the prefix, or two names become the same.
FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind,
                           const std::string& prefix = "");

}  // namespace convoy
