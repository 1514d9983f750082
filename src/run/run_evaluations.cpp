/// Evaluates with the runtime of the training.
#include "run/run_evaluations.h"

#include <cmath>

#include <fmt/core.h>

#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/io/checkpoint.h"
#include "convoy/params/parameters.h"

#include "checkpoint/checkpointing.h"
#include "evaluation/evaluation.h"
#include "evaluation/output_scores.h"
#include "run/best_value.h"
#include "run/restart.h"
#include "run/trained_model.h"

namespace convoy {

RunEvaluations::RunEvaluations(TrainingSetup& setup, const RunData& data)
    : setup_(setup),
      data_(data),
      evaluation_(setup.runtime),
      metrics_(setup.runtime.plan(), data.metadata, setup.params.train.metric) {
  const std::string why = why_no_average_precision(data.measured().info(), data.measured_key());
  if (!why.empty() && setup.runtime.plan().metric() == MetricKind::kMeanAveragePrecision)
    refuse("train.metric = mean_average_precision: {}. Give train.metric = macro_f1 or loss.", why);
}

std::optional<StepMetrics> RunEvaluations::measure(const io::Dataset& data, const Stop& stop) {
  TrainingStep& training = setup_.training;
  const bool of_ema = training.has_ema() && setup_.params.evaluate.weights == WeightsKind::kEma;
  if (of_ema) training.swap_ema();
  auto metrics = evaluate_dataset(
      evaluation_,
      {.samples = data, .metadata = data_.metadata, .params = setup_.params, .work = "measure", .stop = stop});
  if (of_ema) training.swap_ema();
  return metrics;
}

std::optional<TestResult> RunEvaluations::measure_test_set(const io::TrainingState& state, const Stop& stop) {
  const Parameters& params = setup_.params;
  std::optional<TrainedModel> best;
  if (state.best_step > 0) best = load_best(params, state.best_step, setup_.grid.world());
  if (best) restore_weights(best->tensors, best->path, setup_.runtime);
  const auto metrics = measure(*data_.test, stop);
  if (!metrics) return std::nullopt;
  return TestResult{.step = best ? state.best_step : state.step,
                    .checkpoint = best ? best->path : io::checkpoint_path(checkpoint_directory(params), state.step),
                    .metrics = *metrics};
}

bool RunEvaluations::note_if_best(const StepMetrics& measured, io::TrainingState& state) const {
  const NetworkMetric& chosen = metrics_.chosen();
  MeasuredEpoch epoch;
  if (setup_.grid.is_root()) epoch = {.value = chosen.value(measured), .loss = measured.mean_loss()};
  setup_.grid.world().broadcast(&epoch, sizeof epoch, 0);
  if (!std::isfinite(epoch.value)) {
    if (setup_.grid.is_root())
      log_warning(fmt::format("the {} of step {} is not a finite number: this step cannot be the best", chosen.title,
                              state.step));
    return false;
  }
  return convoy::note_if_best(*chosen.metric, epoch, state);
}

}  // namespace convoy
