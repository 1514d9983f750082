/// The samples of a training. Those of a step depend only on the number of the step, not on earlier steps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/data/loader.h"
#include "convoy/data/sample_path.h"
#include "convoy/data/sampler.h"
#include "convoy/io/dataset.h"
#include "convoy/io/model_metadata.h"

#include "step/training_step.h"

namespace convoy {

struct Parameters;

/// Throws RequestError if the parameters ask for augmentations, or for an order of samples, that these data do not
/// allow. Called before anything is planned or measured.
void check_sample_path(const Parameters& params, const io::Dataset& data, const io::ModelMetadata& metadata);

/// Opens loaders for the steps of a training.
class TrainingSamples {
 public:
  /// The arguments; what they refer to must outlive the TrainingSamples object.
  struct Spec {
    const Parameters& params;
    const io::Dataset& data;
    const io::ModelMetadata& metadata;
    std::int64_t per_epoch = 0;  ///< number of steps per epoch
    TrainingStep& training;
  };

  explicit TrainingSamples(const Spec& spec);

  /// Opens this replica's samples for `num_steps` steps, after `done` steps of the training.
  std::unique_ptr<Loader> open_steps(std::int64_t done, std::int64_t num_steps) const;
  /// Opens the samples of one micro-batch that this rank's stage reads. `number` is counted from 0 over all replicas,
  /// `step` from 1.
  std::unique_ptr<Loader> open_micro_batch(std::int64_t step, std::int64_t number) const;
  /// Returns the name of the sample at index `position` of step `step`, counted from 1.
  std::string name_of(std::int64_t step, std::int64_t position) const;

 private:
  Spec spec_;
  Sampler sampler_;
  std::unique_ptr<SamplePath> path_;
};

}  // namespace convoy
