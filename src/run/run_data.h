/// Data that a run trains and measures on, and the number of steps that follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/dataset.h"
#include "convoy/io/model_metadata.h"

#include "watch/status_board.h"

namespace convoy {

struct Parameters;
struct TrainParams;

/// The splits, opened and compared before anything large is allocated. Throws RequestError if one network cannot be
/// trained and measured on them, or if data.train is one shard of several and data.allow_part is not set.
struct RunData {
  explicit RunData(const Parameters& params);
  /// Takes splits that are already open.
  RunData(const Parameters& params, io::Dataset opened_train, std::optional<io::Dataset> opened_val,
          std::optional<io::Dataset> opened_test);

  /// Copies the shards as data.stage asks for, and reports progress to the board. All ranks of world, before samples
  /// are read.
  void stage(const Parameters& params, const mpi::Communicator& world, StatusBoard& board);

  /// Returns the split that is measured after each epoch, and that decides what "best" means: val if it is given, else
  /// test.
  const io::Dataset& measured() const { return val ? *val : *test; }
  /// Returns what gaps_of() says of each split, and a sentence for each two that hold the same samples.
  std::vector<std::string> gaps() const;

  const char* measured_name() const { return val ? "val" : "test"; }

  io::Dataset train;
  std::optional<io::Dataset> val, test;  ///< at least one of them is set
  io::ModelMetadata metadata;
};

/// Returns "data.test: 2 of 10 texts are longer than model.length = 128 tokens: ...". Empty if no text is, and for data
/// that are not texts cut at their end: images, and pairs of parts of texts. `key` names the samples.
std::string describe_long_texts(const io::SampleStore& samples, const std::string& key,
                                const io::ModelMetadata& metadata);

/// Returns a sentence for each thing that is left out of a data set: the other shards, if one of several was opened
/// alone; classes without a sample; the ends of long texts. `key` names the data set: "data.test".
std::vector<std::string> gaps_of(const io::Dataset& data, const std::string& key, const io::ModelMetadata& metadata);

struct StepCount {
  std::int64_t per_epoch = 0;  ///< steps per epoch; samples that do not fill a step wait for another epoch's shuffle
  std::int64_t total = 0;
};

/// Returns "train.epochs = 2 asks for 44": the key that sets the number of steps, and the number.
std::string describe_total(const StepCount& steps, const TrainParams& train);

/// Returns "step 30 of 44", or "step 176 (train.epochs = 2 asks for 44)".
std::string describe_progress(std::int64_t step, const StepCount& steps, const TrainParams& train);

/// Converts epochs to steps. Throws RequestError if the data have fewer samples than one step needs.
StepCount count_steps(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
