/// Told apart by content: a safetensors file begins with its header, a checkpoint ends with its hash.
#include "train/weights_file.h"

#include "convoy/base/error.h"

namespace convoy {

std::optional<std::string> find_damage_in_weights(std::span<const std::byte> bytes, const std::string& where) {
  if (!io::looks_like_safetensors(bytes)) return io::find_damage(bytes);
  try {
    io::decode_safetensors(bytes, where);
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

FileWeights decode_weights(std::span<const std::byte> bytes, const std::string& where, WeightsKind kind) {
  FileWeights weights;
  io::StateDict& dict = weights.dict;
  std::int64_t steps = 0;
  if (io::looks_like_safetensors(bytes)) {
    dict = io::decode_safetensors(bytes, where);
  } else {
    io::Checkpoint checkpoint = io::decode_checkpoint(bytes, where);
    weights.of_ema = kind == WeightsKind::kEma && !checkpoint.ema.empty();
    dict.tensors = std::move(weights.of_ema ? checkpoint.ema : checkpoint.model);
    weights.card = std::move(checkpoint.card);
    steps = checkpoint.state.step;
  }
  constexpr std::string_view kMean = "running_mean";
  for (const io::NamedTensor& tensor : dict.tensors)
    if (tensor.name.ends_with(kMean))
      dict.counters.emplace(tensor.name.substr(0, tensor.name.size() - kMean.size()) + "num_batches_tracked", steps);
  return weights;
}

}  // namespace convoy
