/// Evaluates a network: data, weights, and the metrics that rank 0 computes from the logits.
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/data/training_set.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "evaluation/evaluation.h"
#include "evaluation/logits.h"
#include "evaluation/output_scores.h"
#include "inference/inference.h"
#include "run/report.h"
#include "run/run_data.h"
#include "run/trained_model.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

// Writes the tables of evaluate.confusion to run.directory, and returns their paths: "A, B".
std::string write_tables(const StepMetrics& metrics, const Confusion& confusion, const io::ModelMetadata& metadata,
                         const std::string& directory) {
  const std::vector<std::string>& names = metadata.class_names;
  std::vector<std::string> paths;
  const auto write = [&](const char* name, const std::string& table) {
    paths.push_back(fmt::format("{}/{}", directory, name));
    io::write_text_atomically(paths.back(), table);
  };
  if (metadata.target.kind == TargetKind::kClass) write("confusion.csv", confusion.table(names));
  if (metadata.target.kind == TargetKind::kNumbers)
    write("targets.csv", number_table(metrics.targets, names));
  else
    write("classes.csv", class_table(metrics.classes, metrics.average_precisions, names));
  return fmt::format("{}", fmt::join(paths, ", "));
}

}  // namespace

ExitStatus evaluate(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board) {
  const Parameters& params = request.params;
  // 1. Which weights, on what
  const bool writes_weights = find_weight_sharers(grid, backend.device()).rank() == 0;
  TrainedModel model = load_trained(request, grid.world(), writes_weights);
  const auto [path, key, is_of_model, fold] = find_measured_data(params, model, request.command);
  if (is_of_model && grid.is_root()) print("{} = {}: as in the training of {}\n", key, path, model.owner());
  board.enter(Activity::kOpeningData);
  io::Dataset test(path, key, params.data.verify);
  if (fold > 0) keep_fold(test, fold, FoldPart::kInside, path);
  if (grid.is_root()) {
    for (const std::string& gap : gaps_of(test, key, model.metadata)) log_warning(gap);
    if (const std::string why = why_no_average_precision(test.info(), key); !why.empty()) log_warning(why);
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
    refuse("evaluate.confusion = true needs {}, which {} does not give. Leave it out.",
           outputs_of(model.metadata.target.kind), model.metadata.name);
  if (params.evaluate.confusion) mpi::on_root(grid.world(), [&] { io::make_directory(params.run.directory); });
  // 2. All samples
  const double start = now_seconds();
  Confusion counts(std::ssize(model.metadata.class_names));
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
  std::string tables;
  if (params.evaluate.confusion)
    mpi::on_root(grid.world(), [&] { tables = write_tables(metrics, counts, model.metadata, params.run.directory); });
  // 3. What came out
  if (grid.is_root()) {
    print("checkpoint: {}\n{}{}", model.describe(), sharing, describe_resizing(model.metadata, test.info()));
    if (params.evaluate.mirror) print("each image is evaluated twice, as stored and mirrored (evaluate.mirror)\n");
    const MetricList list(runtime.plan(), model.metadata, MetricKind::kLoss);  // all others are on the next line
    std::error_code unknown;
    const bool has_several = std::filesystem::is_directory(path, unknown);  // the folder holds splits
    print("{}{}: {}  {}  ({:.0f} {}s/s)\n{}", path,
          fold > 0      ? fmt::format(" (fold {})", fold)
          : has_several ? fmt::format(" ({})", key.substr(key.find('.') + 1))
                        : "",
          counted(metrics.num_samples(), "sample"), describe_metrics(metrics, list),
          static_cast<double>(metrics.num_samples()) / seconds, input_kinds::one_of(test.info().kind),
          describe_outputs(metrics, list));
    if (!tables.empty()) print("-> {}\n", tables);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
