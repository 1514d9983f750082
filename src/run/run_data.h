/// The data on which a run trains and is measured, and the number of its steps, which depends on them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/dataset.h"
#include "convoy/io/model_metadata.h"

#include "watchdog/status_board.h"

namespace convoy {

struct Parameters;
struct TrainParams;

/// The data sets data.train, data.val and data.test; with data.fold, val is that fold of data.train. They are opened
/// and compared before memory is allocated. Throws RequestError if one network cannot be trained and measured on them,
/// or if data.train is one shard of several and data.allow_part is not set.
struct RunData {
  /// All ranks of `world` call it.
  RunData(const Parameters& params, const mpi::Communicator& world);
  /// Takes data sets that are already open, data.train by open_training_set(); there is no val with data.fold. All
  /// ranks of `world` call it.
  RunData(const Parameters& params, const mpi::Communicator& world, io::Dataset opened_train,
          std::optional<io::Dataset> opened_val, std::optional<io::Dataset> opened_test);

  /// Copies the shards to local disks if data.copy_to asks for it, and reports progress to the board. All ranks of
  /// `world` call it before samples are read.
  void copy_to_nodes(const Parameters& params, const mpi::Communicator& world, StatusBoard& board);

  /// The data set that is measured after each epoch and decides which checkpoint is the best: val if it is given,
  /// otherwise test.
  const io::Dataset& measured() const { return val ? *val : *test; }
  /// Returns the sentences of gaps_of() for each data set, and one for each two data sets with the same samples.
  std::vector<std::string> gaps() const;

  /// The name of the data set measured(): "val" or "test".
  const char* measured_name() const { return val ? "val" : "test"; }
  /// What messages call it: "data.val", "data.test" or "fold 2 of data.train".
  std::string measured_key() const { return val ? val_key : "data.test"; }

  io::Dataset train;
  std::optional<io::Dataset> val, test;  ///< at least one of them is set
  std::string val_key;
  io::ModelMetadata metadata;
};

/// Returns a sentence if texts are longer than the network's input and will be cut: "data.test: 2 of 10 texts are
/// longer than model.length = 128 tokens: ...". Empty if none is cut, for images, and for pairs of parts of texts.
/// `key` names the data set.
std::string describe_long_texts(const io::SampleStore& samples, const std::string& key,
                                const io::ModelMetadata& metadata);

/// Returns a sentence for each part of a data set that is left out or missing: the other shards if one of several was
/// opened, classes without a sample, the ends of long texts. `key` names the data set: "data.test".
std::vector<std::string> gaps_of(const io::Dataset& data, const std::string& key, const io::ModelMetadata& metadata);

/// The number of steps of a training.
struct StepCount {
  /// Full batches in the data; the samples that are left over are other ones in each epoch.
  std::int64_t per_epoch = 0;
  std::int64_t total = 0;  ///< number of steps of the whole training
};

/// Returns "train.epochs = 2 asks for 44": the key that sets the number of steps, and the number.
std::string describe_total(const StepCount& steps, const TrainParams& train);

/// Returns "step 30 of 44", or "step 176 (train.epochs = 2 asks for 44)".
std::string describe_progress(std::int64_t step, const StepCount& steps, const TrainParams& train);

/// Computes the number of steps from train.epochs and train.max_steps. Throws RequestError if the data have fewer
/// samples than one step needs.
StepCount count_steps(const Parameters& params, const io::DatasetInfo& data);

/// Returns a warning if data.limit leaves so few of the samples, `num_samples`, that an epoch has only 1 to 3 steps; or
/// else an empty text.
std::string describe_few_steps(const Parameters& params, const StepCount& steps, std::int64_t num_samples);

}  // namespace convoy
