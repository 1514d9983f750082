/// What a training runs with, from parameters and data to the loader: the trainer, replays and sweeps make it here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convoy/comm/memory_limits.h"
#include "convoy/comm/process_grid.h"
#include "convoy/data/loader.h"
#include "convoy/data/sample_path.h"
#include "convoy/data/sampler.h"
#include "convoy/io/dataset.h"
#include "convoy/io/model_metadata.h"

#include "calibrate/run_layout.h"
#include "run/run_data.h"
#include "step/training_step.h"
#include "update/learning_rate.h"

namespace convoy {

struct Parameters;

/// Throws RequestError if the parameters ask for augmentations, or for an order of samples, that these data do not
/// allow. Called before anything is planned or measured.
void check_sample_path(const Parameters& params, const io::Dataset& data, const io::ModelMetadata& metadata);

/// Returns the weight of each class, label or number in the training loss (train.class_weights); empty if all are 1.
/// Weights of classes are scaled so that their mean over the samples of the data is 1; so the loss and the learning
/// rate keep their scale. (PyTorch divides by the sum of the weights in a batch instead, which would depend on the
/// micro-batches.) The weight of a label is the factor of samples that have it, as PyTorch's pos_weight. Throws
/// RequestError if the weights do not match the data's classes, labels or numbers.
std::vector<float> output_weights(const Parameters& params, const io::DatasetInfo& data);

/// Returns the specification of a training on `data` in this layout. `on_gpu` says that ranks compute on GPUs.
RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu);

/// The parts of a training on this rank.
struct TrainingSetup {
  /// All ranks of `world` call it. The arguments must outlive this object.
  TrainingSetup(const Parameters& asked, const io::Dataset& train, const io::ModelMetadata& model,
                const RunLayout& chosen, const mpi::Communicator& world, ops::Backend& backend, StatusBoard& board);

  /// Opens this replica's samples for `num_steps` steps, after `done` steps of the training. The samples of a step
  /// depend only on the number of the step, not on earlier steps.
  std::unique_ptr<Loader> open_steps(std::int64_t done, std::int64_t num_steps) const;
  /// Opens the samples of one micro-batch that this rank's stage reads. `number` is counted from 0 over all replicas,
  /// `step` from 1.
  std::unique_ptr<Loader> open_micro_batch(std::int64_t step, std::int64_t number) const;
  /// Returns the name of the sample at index `position` of step `step`, counted from 1.
  std::string name_of(std::int64_t step, std::int64_t position) const;

  const Parameters& params;
  const io::Dataset& data;  ///< the data set data.train
  const io::ModelMetadata& metadata;
  const RunLayout& layout;
  StepCount steps;
  LearningRateSpec rates;
  ProcessGrid grid;
  Resident before;  ///< memory of this process before the runtime was made
  RankRuntime runtime;
  TrainingStep training;
  Sampler sampler;
  std::unique_ptr<SamplePath> path;
};

}  // namespace convoy
