/// A trained network to evaluate: its weights, how samples become its input, and what its logits mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/named_tensor.h"

namespace convoy {

struct Parameters;
struct Request;

struct TrainedModel {
  std::string path;
  std::string choice = {};  ///< FoundFile::choice; on rank 0
  bool of_ema = false;      ///< tensors are the moving average of its weights
  std::vector<io::NamedTensor> tensors;
  io::ModelMetadata metadata;   ///< with the image size that the parameters ask for
  std::int64_t train_hash = 0;  ///< hash of the content of its training data; 0: not known; on rank 0
  std::string test, val;        ///< data.test and data.val of its training, if load_trained() knows them

  std::string owner() const { return "'" + path + "'"; }
  std::string describe() const { return path + choice + (of_ema ? " (moving average)" : ""); }
};

/// What to do if weights and data have different classes.
inline constexpr const char* kOtherClassesRemedy =
    "These weights belong to another data set: look at init.weights and run.directory, which say whose weights are "
    "measured, and at data.train, data.val and data.test.";

/// The data set that a trained network is measured on.
struct MeasuredData {
  std::string path, key;     ///< the key is data.test, or else data.val
  bool is_of_model = false;  ///< neither key is set: the path is from the network's training
};

/// Returns the data set that the parameters name, or else the one that the model names. Throws RequestError, which
/// names `command`, if neither names any.
MeasuredData find_measured_data(const Parameters& params, const TrainedModel& model, const std::string& command);

/// Loads what find_weights() finds on rank 0, on all ranks: its moving average if evaluate.weights asks for it and the
/// file has one. A checkpoint records what it was trained on; if data.train is given and exists, too, its classes must
/// be the same. A safetensors file needs data.train. Throws RequestError if that does not hold, or nothing is found.
/// `needs_tensors`: false for a rank that is to have all but the tensors. All ranks of the world.
TrainedModel load_trained(const Request& request, const mpi::Communicator& world, bool needs_tensors);

/// Loads the checkpoint that find_best() finds on rank 0, on all ranks, in the way of load_trained(). All ranks of the
/// world.
std::optional<TrainedModel> load_best(const Parameters& params, std::int64_t step, const mpi::Communicator& world);

}  // namespace convoy
