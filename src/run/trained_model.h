/// A trained network to evaluate: its weights, and what its samples are and its logits mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parse.h"

namespace convoy {

struct TrainedModel {
  std::string path;
  bool of_ema = false;  ///< the moving average of its weights
  std::vector<io::NamedTensor> tensors;
  io::ModelMetadata metadata;  ///< with the image size that the parameters ask for

  std::string owner() const { return "'" + path + "'"; }
  std::string describe() const { return path + (of_ema ? " (moving average)" : ""); }
};

/// What find_weights() finds on rank 0, on all ranks: its moving average where evaluate.weights asks for it and there
/// is one. A checkpoint says itself what it was trained on; where data.train is given and there too, the classes must
/// be the same. A safetensors file needs data.train. Throws RequestError. `needs_tensors`: false for a rank that is to
/// have all but the tensors. All ranks of the world.
TrainedModel load_trained(const Request& request, const mpi::Communicator& world, bool needs_tensors);

/// best.h5 of run.directory, as load_trained() takes a checkpoint. Nothing, and a warning on rank 0, where it cannot be
/// read or is not of that step. All ranks of the world.
std::optional<TrainedModel> load_best(const Parameters& params, std::int64_t step, const mpi::Communicator& world);

}  // namespace convoy
