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
  std::string choice = {};  ///< as FoundFile has it; of rank 0
  bool of_ema = false;      ///< the moving average of its weights
  std::vector<io::NamedTensor> tensors;
  io::ModelMetadata metadata;   ///< with the image size that the parameters ask for
  std::int64_t train_hash = 0;  ///< of the content of what it was trained on; 0: not known; of rank 0
  std::string test, val;        ///< data.test and data.val that it was trained with, where load_trained() knows them

  std::string owner() const { return "'" + path + "'"; }
  std::string describe() const { return path + choice + (of_ema ? " (moving average)" : ""); }
};

/// What to do where weights and data have different classes.
inline constexpr const char* kOtherClassesRemedy =
    "These weights belong to another data set: look at init.weights and run.directory, which say whose weights are "
    "measured, and at data.train, data.val and data.test.";

/// The data set that a trained network is measured on.
struct MeasuredData {
  std::string path, key;     ///< data.test, or else data.val
  bool is_of_model = false;  ///< named by neither, and taken from what the network was trained with
};

/// That of the parameters, or else of the model. Throws RequestError, which names `command`, where neither has any.
MeasuredData find_measured_data(const Parameters& params, const TrainedModel& model, const std::string& command);

/// What find_weights() finds on rank 0, on all ranks: its moving average where evaluate.weights asks for it and there
/// is one. A checkpoint says itself what it was trained on; where data.train is given and there too, the classes must
/// be the same. A safetensors file needs data.train. Throws RequestError. `needs_tensors`: false for a rank that is to
/// have all but the tensors. All ranks of the world.
TrainedModel load_trained(const Request& request, const mpi::Communicator& world, bool needs_tensors);

/// What find_best() finds on rank 0, on all ranks, as load_trained() takes a checkpoint. All ranks of the world.
std::optional<TrainedModel> load_best(const Parameters& params, std::int64_t step, const mpi::Communicator& world);

}  // namespace convoy
