/// Forward-only passes over a data set.
#include "train/evaluation.h"

#include "convoy/data/loader.h"

#include "train/input.h"

namespace convoy {

namespace {
constexpr int kEvaluationTag = 9004;
}

std::optional<StepMetrics> evaluate_dataset(Engine& engine, const io::Dataset& dataset,
                                            const io::DatasetInfo& normalisation, const Parameters& params,
                                            const std::function<bool()>& stop) {
  const std::int64_t num_samples = dataset.info().num_samples;
  const std::int64_t num_steps = (num_samples + params.batch.global - 1) / params.batch.global;
  const Sampler sampler({.num_samples = num_samples, .seed = 0, .shuffle = false});
  const Augmenter augmenter = make_augmenter(normalisation, {}, params.augment.normalize);
  LoaderSpec spec = loader_spec(engine, params);
  spec.num_steps = num_steps;
  spec.steps_per_epoch = num_steps;
  Loader loader(dataset, sampler, augmenter, engine.library(), spec);
  MetricsChannel channel(engine, kEvaluationTag);
  StepMetrics total;
  std::int64_t step = 0;
  for (; step < num_steps && !stop(); ++step) {
    engine.evaluate_step(loader);
    channel.post();
    if (engine.grid().is_root() && step > 0) total += channel.collect();
  }
  if (engine.grid().is_root() && step > 0) total += channel.collect();
  channel.finish();
  engine.finish();
  if (step < num_steps) return std::nullopt;
  return total;
}

}  // namespace convoy
