/// What a training reads: the samples of any of its steps, which follow from the step's number alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "convoy/data/loader.h"
#include "convoy/data/sample_path.h"
#include "convoy/data/sampler.h"
#include "convoy/io/dataset.h"
#include "convoy/params/parameters.h"

#include "step/rank_runtime.h"

namespace convoy {

/// Throws RequestError where a training on these data asks for changes of its samples, or an order of them, that they
/// do not have: before anything is planned or measured.
void check_sample_path(const Parameters& params, const io::Dataset& data, const io::ModelMetadata& metadata);

class TrainingSamples {
 public:
  /// All outlive it.
  struct Spec {
    const Parameters& params;
    const io::Dataset& data;
    const io::ModelMetadata& metadata;
    std::int64_t an_epoch = 0;  ///< steps
    RankRuntime& runtime;
  };

  explicit TrainingSamples(const Spec& spec);

  /// This rank's part of `num_steps` steps, from the one after `done` on.
  std::unique_ptr<Loader> open_steps(std::int64_t done, std::int64_t num_steps) const;
  /// What this rank's stage reads of micro-batch `number` of the step, counted from 1, whichever replica it belongs to.
  std::unique_ptr<Loader> open_micro_batch(std::int64_t step, std::int64_t number) const;
  /// Of the sample at that position of the step.
  std::string name_of(std::int64_t step, std::int64_t position) const;

 private:
  Spec spec_;
  Sampler sampler_;
  std::unique_ptr<SamplePath> path_;
};

}  // namespace convoy
