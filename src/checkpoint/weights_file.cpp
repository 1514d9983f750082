/// The two kinds of files are told apart by their content: a safetensors file begins with its header, a checkpoint ends
/// with its hash.
#include "checkpoint/weights_file.h"

#include <algorithm>
#include <cmath>

#include "convoy/base/error.h"

namespace convoy {

std::vector<std::byte> read_weights_file(const std::string& path) {
  if (io::is_safetensors_file(path)) return io::read_safetensors_file(path);
  return io::join_parts(io::read_checkpoint_file(path), path, /*with_optimizer=*/false);
}

void check_values(const std::vector<io::NamedTensor>& tensors, const std::string& where) {
  for (const io::NamedTensor& tensor : tensors) {
    const bool is_variance = tensor.name.ends_with("running_var");
    const auto is_wrong = [&](float value) { return !std::isfinite(value) || (is_variance && value < 0); };
    const auto found = std::find_if(tensor.values.begin(), tensor.values.end(), is_wrong);
    if (found == tensor.values.end()) continue;
    refuse(
        "'{}': value {} of {} of tensor '{}' is {}, which is not a {}. The file is damaged, or comes from a training "
        "that diverged: use an earlier checkpoint, or other weights",
        where, found - tensor.values.begin() + 1, tensor.values.size(), tensor.name, *found,
        std::isfinite(*found) ? "variance" : "finite number (in float32)");
  }
}

FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind) {
  FileWeights weights;
  io::StateDict& dict = weights.dict;
  if (io::looks_like_safetensors(bytes)) {
    dict = io::decode_safetensors(bytes, where);
  } else {
    io::Checkpoint checkpoint = io::decode_checkpoint(bytes, where);
    weights.of_ema = kind == WeightsKind::kEma && !checkpoint.ema.empty();
    dict.tensors = std::move(weights.of_ema ? checkpoint.ema : checkpoint.model);
    weights.metadata = std::move(checkpoint.metadata);
    weights.parameters = std::move(checkpoint.parameters);
    dict.counters = std::move(checkpoint.counters);
  }
  check_values(dict.tensors, where);
  for (const io::NamedTensor& tensor : dict.tensors)
    if (const std::string name = io::counter_name(tensor.name); !name.empty()) dict.counters.emplace(name, 0);
  return weights;
}

}  // namespace convoy
