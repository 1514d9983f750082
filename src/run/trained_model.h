/// A trained network that is to be evaluated: its weights, how samples become its input, and what its logits mean.
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

/// A trained network as it was loaded from a file.
struct TrainedModel {
  std::string path;                      ///< path of the file
  std::string choice = {};               ///< FoundFile::choice; empty on other ranks than 0
  bool of_ema = false;                   ///< whether `tensors` are the moving average of the weights
  std::vector<io::NamedTensor> tensors;  ///< parameters and running statistics; empty on ranks that do not need them
  io::ModelMetadata metadata;            ///< how samples become input, with the image size that the parameters ask for
  std::int64_t train_hash = 0;           ///< on rank 0: hash of the content of the training data; 0: not known
  std::string test = {};                 ///< data.test of its training; empty if not known
  std::string val = {};                  ///< data.val of its training, or data.train if it left out a fold
  std::int64_t fold = 0;                 ///< data.fold of its training

  /// The network as messages name it: "'runs/a/checkpoints/best.h5'".
  std::string owner() const { return "'" + path + "'"; }
  /// A line about the file and why it was chosen.
  std::string describe() const { return path + choice + (of_ema ? " (moving average)" : ""); }
};

/// The sentence of messages that says what to do if weights and data have different classes.
inline constexpr const char* kOtherClassesRemedy =
    "These weights belong to another data set: look at init.weights and run.directory, which say whose weights are "
    "measured, and at data.train, data.val and data.test.";

/// The data set that a trained network is measured on.
struct MeasuredData {
  std::string path, key;  ///< path of the data set, and the key that names it: data.test, data.val or data.train
  /// True: the parameters name no data set, so `path` is the one of the network's training.
  bool is_of_model = false;
  std::int64_t fold = 0;  ///< the only fold of data.train that is measured; 0: all samples
};

/// Returns the data set that the parameters name or, if they name none, the one that the model's training named. Throws
/// RequestError, which names `command`, if there is none.
MeasuredData find_measured_data(const Parameters& params, const TrainedModel& model, const std::string& command);

/// Loads the weights that find_weights() finds, on all ranks; rank 0 reads the file. Loads the moving average if
/// evaluate.weights asks for it and the file has one. If data.train is given and exists, its classes must be those of
/// the checkpoint; a safetensors file needs data.train. Throws RequestError if this does not hold, or if no weights are
/// found. A rank with `needs_tensors` = false gets everything except the tensors. All ranks of the world call it.
TrainedModel load_trained(const Request& request, const mpi::Communicator& world, bool needs_tensors);

/// Loads the checkpoint that find_best() finds, as load_trained() does; empty if there is none. Throws RequestError on
/// all ranks if a value is infinite or NaN (check_values()). All ranks of the world call it.
std::optional<TrainedModel> load_best(const Parameters& params, std::int64_t step, const mpi::Communicator& world);

}  // namespace convoy
