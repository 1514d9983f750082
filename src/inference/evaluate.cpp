/// Evaluates a network: data, weights, and the metrics that rank 0 computes from the logits.
#include <cmath>
#include <filesystem>
#include <utility>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "evaluation/evaluation.h"
#include "evaluation/logits.h"
#include "inference/inference.h"
#include "run/report.h"
#include "run/run_data.h"
#include "run/trained_model.h"
#include "watchdog/status_board.h"

namespace convoy {

ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board) {
  const Parameters& params = request.params;
  // 1. Which weights, on what
  const bool writes_weights = find_weight_sharers(grid, backend.device()).rank() == 0;
  TrainedModel model = load_trained(request, grid.world(), writes_weights);
  const auto [path, key, is_of_model] = find_measured_data(params, model, request.command);
  if (is_of_model && grid.is_root()) print("{} = {}: as in the training of {}\n", key, path, model.owner());
  board.enter(Activity::kOpeningData);
  const io::Dataset test(path, key, params.data.verify);
  if (grid.is_root()) {
    for (const std::string& gap : gaps_of(test, key, model.metadata)) log_warning(gap);
    if (test.content_hash() == model.train_hash)
      log_warning(fmt::format("{} = {}: these are the data that {} was trained on", key, path, model.owner()));
  }
  board.enter(Activity::kStarting);
  check_samples(model.metadata, test.info(), key, model.owner());
  check_classes(model.metadata, test.info(), key, model.owner(), kOtherClassesRemedy);
  RankRuntime runtime(evaluation_spec(params, model.metadata), grid, backend, board);
  EvaluationStep evaluation(runtime);
  restore_weights(std::exchange(model.tensors, {}), model.path, runtime);  // frees the tensors, too
  if (params.evaluate.confusion && !runtime.plan().gives_logits())
    refuse("evaluate.confusion = true needs classes, which {} does not give. Leave it out.", model.metadata.name);
  if (params.evaluate.confusion) mpi::on_root(grid.world(), [&] { io::make_directory(params.run.directory); });
  // 2. All samples
  const double start = now_seconds();
  const std::vector<std::string>& classes = test.info().class_names;
  Confusion counts(std::ssize(classes));
  const std::string sharing = runtime.shared_weights()->describe();
  const StepMetrics metrics = evaluate_dataset(evaluation, {.samples = test,
                                                            .metadata = model.metadata,
                                                            .params = params,
                                                            .work = "evaluate",
                                                            .confusion = params.evaluate.confusion ? &counts : nullptr})
                                  .value();
  const double seconds = now_seconds() - start;
  if (grid.is_root() && !std::isfinite(metrics.mean_loss()))
    fail("{} gives a loss that is not a finite number on {}", model.path, path);
  const std::string confusion = params.run.directory + "/confusion.csv",
                    by_class = params.run.directory + "/classes.csv";
  if (params.evaluate.confusion)
    mpi::on_root(grid.world(), [&] {
      io::write_text_atomically(confusion, counts.table(classes));
      io::write_text_atomically(by_class, class_table(metrics.classes, classes));
    });
  // 3. What came out
  if (grid.is_root()) {
    print("checkpoint: {}\n{}{}", model.describe(), sharing, describe_resizing(model.metadata, test.info()));
    if (params.evaluate.mirror) print("each image is evaluated twice, as stored and mirrored (evaluate.mirror)\n");
    const MetricList list(runtime.plan());
    std::error_code unknown;
    const bool has_several = std::filesystem::is_directory(path, unknown);  // the folder holds splits
    print("{}{}: {}  {}  ({:.0f} {}s/s)\n{}", path,
          has_several ? fmt::format(" ({})", key.substr(key.find('.') + 1)) : "",
          counted(metrics.num_samples(), "sample"), describe_metrics(metrics, list),
          static_cast<double>(metrics.num_samples()) / seconds, input_kinds::one_of(test.info().kind),
          describe_classes(metrics, list));
    if (params.evaluate.confusion) print("-> {}, {}\n", confusion, by_class);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
