/// Makes loaders over one sampler and one path.
#include "run/training_samples.h"

#include "convoy/data/make_sample_path.h"
#include "convoy/params/parameters.h"

#include "plan/step_plan.h"

namespace convoy {

void check_sample_path(const Parameters& params, const io::Dataset& data, const io::ModelMetadata& metadata) {
  const auto check = [&](SampleView view) {
    make_sample_path({.samples = data,
                      .metadata = metadata,
                      .params = params,
                      .view = view,
                      .type = storage_type(params.train.precision)});
  };
  training_sampler(data, params);
  check(SampleView::kTraining);
  if (params.evaluate.mirror) check(SampleView::kMirrored);
}

TrainingSamples::TrainingSamples(const Spec& spec)
    : spec_(spec),
      sampler_(training_sampler(spec.data, spec.params)),
      path_(make_sample_path({.samples = spec.data,
                              .metadata = spec.metadata,
                              .params = spec.params,
                              .view = SampleView::kTraining,
                              .type = spec.training.runtime().plan().spec().network.type})) {}

std::unique_ptr<Loader> TrainingSamples::open_steps(std::int64_t done, std::int64_t num_steps) const {
  LoaderSpec loading = spec_.training.loader_spec();
  loading.first_step = done;
  loading.num_steps = num_steps;
  loading.steps_per_epoch = spec_.per_epoch;
  return std::make_unique<Loader>(*path_, sampler_, spec_.training.runtime().operations(), loading);
}

std::unique_ptr<Loader> TrainingSamples::open_micro_batch(std::int64_t step, std::int64_t number) const {
  LoaderSpec loading = spec_.training.loader_spec();
  loading.first_micro_batch = number;
  loading.first_step = step - 1;
  loading.num_micro_batches = loading.num_steps = 1;
  loading.steps_per_epoch = spec_.per_epoch;
  loading.threads = loading.read_ahead = 1;
  return std::make_unique<Loader>(*path_, sampler_, spec_.training.runtime().operations(), loading);
}

std::string TrainingSamples::name_of(std::int64_t step, std::int64_t position) const {
  const std::int64_t in_epoch = (step - 1) % spec_.per_epoch * spec_.params.batch.global + position;
  return spec_.data.name(sampler_.sample((step - 1) / spec_.per_epoch, in_epoch));
}

}  // namespace convoy
