/// Combines the parameter file with what only the data tell.
#include "run/training_setup.h"

#include <algorithm>
#include <cstddef>

#include "convoy/base/error.h"
#include "convoy/data/make_sample_path.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

/// Classes: 1 / samples of the class, 0 without samples. Labels: samples without the label / samples with it; 1 if all
/// or none have it, because the loss of such a label needs no balance.
std::vector<double> balanced_factors(const io::DatasetInfo& data) {
  std::vector<double> factors;
  for (const std::int64_t samples : data.class_counts) {
    const auto with = static_cast<double>(samples), without = static_cast<double>(data.num_samples - samples);
    if (data.target.kind == TargetKind::kClass)
      factors.push_back(with > 0 ? 1 / with : 0);
    else
      factors.push_back(with > 0 && without > 0 ? without / with : 1);
  }
  return factors;
}

/// Scales the factors of the classes so that their mean over the samples is 1.
std::vector<float> with_mean_one(const std::vector<double>& factors, const io::DatasetInfo& data) {
  double sum = 0;
  for (std::size_t c = 0; c < factors.size(); ++c) sum += factors[c] * static_cast<double>(data.class_counts[c]);
  if (sum == 0)
    refuse(
        "train.class_weights is 0 for every class that data.train has samples of. Give at least one of these classes a "
        "weight above 0.");
  std::vector<float> weights;
  for (const double factor : factors)
    weights.push_back(static_cast<float>(factor * static_cast<double>(data.num_samples) / sum));
  return weights;
}

}  // namespace

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

RuntimeSpec training_spec(const Parameters& params, const io::ModelMetadata& metadata, const io::DatasetInfo& data,
                          const RunLayout& layout, bool on_gpu) {
  RuntimeSpec spec = runtime_spec(params, metadata);
  spec.output_weights = output_weights(params, data);
  spec.samples_in_memory = data.bytes_in_memory;
  spec.schedule = layout.schedule;
  spec.chunks = layout.chunks;
  spec.machine = layout.machine;
  spec.on_gpu = on_gpu;
  return spec;
}

std::vector<float> output_weights(const Parameters& params, const io::DatasetInfo& data) {
  const ClassWeights& asked = params.train.class_weights;
  if (!asked.balanced && asked.factors.empty()) return {};
  const TargetKind kind = data.target.kind;
  if (asked.balanced && kind == TargetKind::kNumbers)
    refuse(
        "train.class_weights = balanced is for classes and labels, but the target of data.train is numbers. Give one "
        "factor for each number, or leave out train.class_weights.");
  if (!asked.balanced && asked.factors.size() != data.class_names.size())
    refuse("train.class_weights has {} factors, but data.train has {} {}. Give one factor for each.",
           asked.factors.size(), data.class_names.size(), outputs_of(kind));
  const std::vector<double> factors = asked.balanced ? balanced_factors(data) : asked.factors;
  if (kind == TargetKind::kClass) return with_mean_one(factors, data);
  if (std::ranges::count(factors, 0) == std::ssize(factors))
    refuse("train.class_weights is 0 for all {}. Give at least one of them a weight above 0.", outputs_of(kind));
  return {factors.begin(), factors.end()};
}

TrainingSetup::TrainingSetup(const Parameters& asked, const io::Dataset& train, const io::ModelMetadata& model,
                             const RunLayout& chosen, const mpi::Communicator& world, ops::Backend& backend,
                             StatusBoard& board)
    : params(asked),
      data(train),
      metadata(model),
      layout(chosen),
      steps(count_steps(asked, train.info())),
      rates(learning_rate_spec(asked, steps.per_epoch)),
      grid(world, chosen.stages),
      before(resident_from_here()),
      runtime(training_spec(asked, model, train.info(), chosen, !backend.device().is_host()), grid, backend, board),
      training(runtime),
      sampler(training_sampler(train, asked)),
      path(make_sample_path({.samples = train,
                             .metadata = model,
                             .params = asked,
                             .view = SampleView::kTraining,
                             .type = runtime.plan().spec().network.type})) {}

std::unique_ptr<Loader> TrainingSetup::open_steps(std::int64_t done, std::int64_t num_steps) const {
  LoaderSpec loading = runtime.loader_spec(training.loss());
  loading.first_step = done;
  loading.num_steps = num_steps;
  loading.steps_per_epoch = steps.per_epoch;
  return std::make_unique<Loader>(*path, sampler, runtime.operations(), loading);
}

std::unique_ptr<Loader> TrainingSetup::open_micro_batch(std::int64_t step, std::int64_t number) const {
  LoaderSpec loading = runtime.loader_spec(training.loss());
  loading.first_micro_batch = number;
  loading.first_step = step - 1;
  loading.num_micro_batches = loading.num_steps = 1;
  loading.steps_per_epoch = steps.per_epoch;
  loading.threads = loading.read_ahead = 1;
  return std::make_unique<Loader>(*path, sampler, runtime.operations(), loading);
}

std::string TrainingSetup::name_of(std::int64_t step, std::int64_t position) const {
  const std::int64_t in_epoch = (step - 1) % steps.per_epoch * params.batch.global + position;
  return data.name(sampler.sample((step - 1) / steps.per_epoch, in_epoch));
}

}  // namespace convoy
