/// Samples that a training reads: those of any step follow from the step's number alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/data/loader.h"
#include "convoy/data/sample_path.h"
#include "convoy/data/sampler.h"
#include "convoy/io/dataset.h"
#include "convoy/io/model_metadata.h"

#include "step/rank_runtime.h"

namespace convoy {

struct Parameters;

/// Throws RequestError if a training on these data asks for changes of its samples, or an order of them, that the data
/// do not allow. Called before anything is planned or measured.
void check_sample_path(const Parameters& params, const io::Dataset& data, const io::ModelMetadata& metadata);

class TrainingSamples {
 public:
  /// All references outlive the TrainingSamples object.
  struct Spec {
    const Parameters& params;
    const io::Dataset& data;
    const io::ModelMetadata& metadata;
    std::int64_t per_epoch = 0;  ///< steps per epoch
    RankRuntime& runtime;
  };

  explicit TrainingSamples(const Spec& spec);

  /// Opens this rank's part of `num_steps` steps, beginning with the step after `done`.
  std::unique_ptr<Loader> open_steps(std::int64_t done, std::int64_t num_steps) const;
  /// Opens what this rank's stage reads of micro-batch `number` (counted from 0 over all replicas) of the step (counted
  /// from 1).
  std::unique_ptr<Loader> open_micro_batch(std::int64_t step, std::int64_t number) const;
  /// Returns the name of the sample at that position of the step.
  std::string name_of(std::int64_t step, std::int64_t position) const;

 private:
  Spec spec_;
  Sampler sampler_;
  std::unique_ptr<SamplePath> path_;
};

}  // namespace convoy
