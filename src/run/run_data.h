/// What a run trains and measures on, and how many steps that makes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

#include "watch/status_board.h"

namespace convoy {

/// The splits, opened and compared before anything large is allocated. Throws RequestError where they are not what one
/// network can be trained on and measured with, or data.train is one shard of several and data.allow_part does not say
/// so.
struct RunData {
  explicit RunData(const Parameters& params);
  /// Of splits that are open.
  RunData(const Parameters& params, io::Dataset opened_train, std::optional<io::Dataset> opened_val,
          std::optional<io::Dataset> opened_test);

  /// Copies the shards as data.stage asks for. All ranks of world, before samples are read; the board is told of
  /// progress.
  void stage(const Parameters& params, const mpi::Communicator& world, StatusBoard& board);

  /// What is measured epoch by epoch, and so what "best" means: val where it is given, else test.
  const io::Dataset& measured() const { return val ? *val : *test; }
  /// Returns what gaps_of() says of each split, and a sentence for each two that hold the same samples.
  std::vector<std::string> gaps() const;

  const char* measured_name() const { return val ? "val" : "test"; }

  io::Dataset train;
  std::optional<io::Dataset> val, test;  ///< at least one of them
  io::ModelMetadata metadata;
};

/// Returns "data.test: 2 of 10 texts are longer than model.length = 128 tokens: ..."; nothing where none is, and for
/// what does not cut texts at their end: images, and pairs of parts of texts. `key` names the samples.
std::string describe_long_texts(const io::SampleStore& samples, const std::string& key,
                                const io::ModelMetadata& metadata);

/// Returns a sentence for each thing that is left out of a data set: the other shards, if one of several was opened
/// alone; classes without a sample; the ends of long texts. `key` names it: "data.test".
std::vector<std::string> gaps_of(const io::Dataset& data, const std::string& key, const io::ModelMetadata& metadata);

struct StepCount {
  std::int64_t an_epoch = 0;  ///< what is left over of an epoch waits for another epoch's shuffle
  std::int64_t total = 0;
};

/// "train.epochs = 2 asks for 44": which key says how many steps there are.
std::string describe_total(const StepCount& steps, const TrainParams& train);

/// "step 30 of 44", or "step 176 (train.epochs = 2 asks for 44)".
std::string describe_progress(std::int64_t step, const StepCount& steps, const TrainParams& train);

/// Throws RequestError where the data have no whole step.
StepCount count_steps(const Parameters& params, const io::DatasetInfo& data);

}  // namespace convoy
