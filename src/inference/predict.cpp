/// Predicts: samples, weights, and the files that rank 0 writes while the grid computes.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "convoy/base/clock.h"
#include "convoy/base/log.h"
#include "convoy/base/print.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/comm/packed.h"
#include "convoy/data/loader.h"
#include "convoy/data/open_samples.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "evaluation/evaluation.h"
#include "evaluation/logits.h"
#include "inference/explain.h"
#include "inference/inference.h"
#include "inference/predicting.h"
#include "inference/prediction_files.h"
#include "run/run_data.h"
#include "run/trained_model.h"
#include "step/metric_list.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

// Lists the classes below each other, the most probable first: "  61.02 %  coat".
std::string class_list(std::span<const float> logits, const std::vector<std::string>& class_names, std::int64_t top) {
  const std::vector<double> p = probabilities(logits);
  std::string text;
  for (const std::int64_t k : best_classes(logits, std::min(top, std::ssize(class_names))))
    text += fmt::format("{:8.2f} %  {}\n", 100 * p[static_cast<std::size_t>(k)], excerpt(class_names[k]));
  return text;
}

struct Source {
  std::string path, key;       ///< path of the samples, or the text of predict.text
  std::string split = "test";  ///< split of a folder of shards
  std::int64_t fold = 0;       ///< the only fold that is predicted; 0: all samples
};

// Refuses empty values: a variable of the shell that was never set must not predict something else, and overwrite an
// earlier prediction.
void check_not_empty(const Request& request) {
  const PredictParams& predict = request.params.predict;
  if (!predict.text.empty() || !predict.data.empty()) return;
  for (const char* const key : {"predict.text", "predict.data"})
    if (request.given_on_command_line(key))
      refuse("{} is empty: there is nothing to predict. Give it a value, or leave it out to predict data.test.", key);
}

Source input_data(const Parameters& params, const TrainedModel& model, bool is_root) {
  if (!params.predict.text.empty()) return {.path = params.predict.text, .key = "predict.text"};
  if (!params.predict.data.empty()) return {.path = params.predict.data, .key = "predict.data"};
  const auto [path, key, is_of_model, fold] = find_measured_data(params, model, "predict");
  if (is_of_model && is_root) print("{} = {}: as in the training of {}\n", key, path, model.owner());
  return {.path = path, .key = key, .split = key.substr(key.find('.') + 1), .fold = fold};
}

ImageFileOptions image_options(const io::ImageInput& input, OrientKind orient) {
  const bool must_turn = orient == OrientKind::kTurned;
  return {.channels = input.shape.c,
          .orients = orient == OrientKind::kAuto ? input.orients : must_turn,
          .needs_oriented = must_turn};
}

// Returns the columns of a table: those of keys that are given, else those of the network's training texts, else the
// keys' defaults.
io::ColumnNames table_columns(const Request& request, const io::TextInput& text) {
  const ImportParams usual;
  const ImportParams& given = request.params.import;
  const auto choose = [&](const char* key, const std::string& value, const std::string& default_value,
                          const std::string& trained) {
    const bool is_given = value != default_value || request.given_on_command_line(key);
    return is_given || trained.empty() ? value : trained;
  };
  return {.text = choose("import.text_column", given.text_column, usual.text_column, text.columns.text),
          .label = choose("import.label_column", given.label_column, usual.label_column, text.columns.label)};
}

ArrayFileOptions array_options(const io::ModelMetadata& metadata, const ImportParams& given) {
  return {.arrays = metadata.arrays()->inputs,
          .answer = metadata.target,
          .output_names = metadata.class_names,
          .inputs = given.inputs,
          .target = given.target,
          .id = given.id,
          .axes = given.axes};
}

OpenedSamples open_source(const Source& source, const Request& request, const TrainedModel& model,
                          const mpi::Communicator& world) {
  const Parameters& params = request.params;
  const io::TextInput* const text = model.metadata.text();
  if (source.key == "predict.text") {
    if (text == nullptr)
      refuse("predict.text gives a text, but the network of {} reads {}. Give predict.data", model.owner(),
             model.metadata.kind());
    return open_one_text(source.path, source.key, text->tokenization);
  }
  SamplesPath path{
      .path = source.path, .key = source.key, .verify = params.data.verify, .split = source.split, .fold = source.fold};
  if (text != nullptr)
    path.files = TextFileOptions{.tokenization = text->tokenization, .columns = table_columns(request, *text)};
  else if (model.metadata.arrays() != nullptr)
    path.files = array_options(model.metadata, params.import);
  else
    path.files = image_options(model.metadata.image(), params.predict.orient);
  return open_samples(path, world);
}

// Returns "  RMSE 0.52" if labels or numbers of the samples are known; empty for classes, of which PredictionFiles
// knows more.
std::string shown_score(const StepMetrics& metrics, const RankRuntime& runtime, const io::ModelMetadata& metadata) {
  if (!metrics.has_scores() || metadata.target.kind == TargetKind::kClass) return "";
  const NetworkMetric chosen = MetricList(runtime.plan(), metadata).chosen();
  return fmt::format("  {} {}", chosen.title, chosen.shown(metrics));
}

// Returns the bad images of all ranks on rank 0, in the order of the samples; elsewhere nothing.
std::vector<SkippedSample> gather_bad(const mpi::Communicator& world, const std::vector<BadSample>& mine,
                                      const io::SampleStore& data) {
  mpi::Packer packed;
  for (const BadSample& one : mine) {
    packed.add(one.sample);
    packed.add(one.reason);
  }
  const std::vector<std::byte> bytes = world.gather(packed.bytes(), 0);
  std::map<std::int64_t, std::string> reasons;
  for (mpi::Unpacker all(bytes); !all.is_empty();) {
    const std::int64_t sample = all.number();
    reasons[sample] = all.text();
  }
  std::vector<SkippedSample> bad;
  for (const auto& [sample, reason] : reasons) bad.push_back({.name = data.name(sample), .reason = reason});
  return bad;
}

// Returns "its only text is bad" or "none of 3 texts is good; the first one".
std::string none_is_good(std::int64_t count, const char* one) {
  return count == 1 ? fmt::format("its only {} is bad", one)
                    : fmt::format("none of {} {}s is good; the first one", count, one);
}

// Warns of bad samples, each of which is `one` (image, text), on rank 0. Refuses, so that nothing is written, if none
// of the samples is good, or if predict.strict is set.
void judge_bad(const std::vector<SkippedSample>& bad, bool is_any_good, const char* one, const Source& source,
               bool strict, bool is_root) {
  if (bad.empty()) return;
  const auto tell = [](const SkippedSample& sample) {
    return fmt::format("'{}': {}", excerpt(sample.name), sample.reason);
  };
  const std::string first = tell(bad.front());
  if (strict) refuse("predict.strict = true: {} = {} has a bad {}: {}", source.key, source.path, one, first);
  if (!is_any_good) refuse("{} = {}: {}: {}", source.key, source.path, none_is_good(std::ssize(bad), one), first);
  if (!is_root) return;
  for (const SkippedSample& sample : bad) log_warning(fmt::format("skipped {}", tell(sample)));
}

}  // namespace

void check_gives_outputs(const RankRuntime& runtime, const TrainedModel& model) {
  if (!runtime.plan().gives_logits())
    refuse("{} was trained for {}, and gives no {}: {}.", model.owner(),
           fmt::join(runtime.plan().objectives(), " and "), outputs_of(model.metadata.target.kind),
           model.metadata.text() != nullptr
               ? "train model.name = bert_classifier from its weights (init.weights), and predict with that"
               : "train a network that ends in logits from its weights (init.weights), and predict with that");
}

void check_finite(const StepOutputs& step, const io::SampleStore& data, std::int64_t num_outputs) {
  const auto is_finite = [](float y) { return std::isfinite(y); };
  const auto bad = std::find_if_not(step.outputs.begin(), step.outputs.end(), is_finite);
  if (bad == step.outputs.end()) return;
  const std::int64_t sample = step.first_sample + (bad - step.outputs.begin()) / num_outputs;
  fail("sample {} ('{}') gives outputs that are not finite numbers", sample, excerpt(data.name(sample)));
}

ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board) {
  const Parameters& params = request.params;
  if (params.predict.data == kStandardInput) return predict_frames(request, grid, backend, board);
  // 1. What is asked for
  check_not_empty(request);
  PredictionPaths paths = prediction_paths(params);
  const mpi::Communicator& world = grid.world();
  const bool writes_weights = find_weight_sharers(grid, backend.device()).rank() == 0;
  TrainedModel model = load_trained(request, world, writes_weights);
  paths = without_table_of_field(std::move(paths), params, model.metadata.target);
  const Source source = input_data(params, model, grid.is_root());
  board.enter(Activity::kOpeningData);
  const OpenedSamples samples = open_source(source, request, model, world);
  board.enter(Activity::kStarting);
  const io::SampleStore* const data = samples.store.get();
  judge_bad(samples.skipped, data->info().num_samples > 0, "text", source, params.predict.strict, grid.is_root());
  check_samples(model.metadata, data->info(), source.key, model.owner());
  if (const std::string cut = describe_long_texts(*data, source.key, model.metadata); !cut.empty() && grid.is_root())
    log_warning(cut);
  RankRuntime runtime(evaluation_spec(params, model.metadata), grid, backend, board);
  EvaluationStep evaluation(runtime);
  check_gives_outputs(runtime, model);
  restore_weights(std::exchange(model.tensors, {}), model.path, runtime);  // and frees them
  const std::vector<std::string>& class_names = model.metadata.class_names;
  const std::string one(input_kinds::one_of(data->info().kind));
  // Rank 0. The classes of a single picture or text are printed, and written only if predict.output asks for it.
  std::optional<PredictionFiles> opened;
  mpi::on_root(world, [&] {
    if (samples.is_one_file && params.predict.output.empty()) return;
    opened.emplace(paths, samples, model.metadata, params, std::vector{source.path, model.path});
  });
  const std::string sharing = runtime.shared_weights()->describe();
  // 2. All samples, in order
  const double start = now_seconds();
  std::vector<BadSample> own_bad;
  std::string classes;
  const auto must_stop = [&] { return params.predict.strict && world.max(own_bad.empty() ? 0 : 1) > 0; };
  std::optional<ComputedMicroBatches> computed;
  const auto observe = [&](const StepOutputs& step) {
    check_finite(step, *data, model.metadata.target.num_values(std::ssize(class_names)));
    if (samples.is_one_file) classes = class_list(step.outputs, class_names, params.predict.top);
    if (opened) opened->append(step);
  };
  const EvaluationSpec spec{.samples = *data,
                            .metadata = model.metadata,
                            .params = params,
                            .work = "predict",
                            .stop = must_stop,
                            .observe = observe,
                            .bad = &own_bad};
  if (params.predict.explain)
    evaluation.tell(computed.emplace(runtime, spec.num_steps(), params.evaluate.mirror ? 2 : 1));
  const auto metrics = evaluate_dataset(evaluation, spec);
  const std::string explained = computed ? computed->describe(data->info().num_samples) : "";
  const std::vector<SkippedSample> bad = gather_bad(world, own_bad, *data);
  const std::vector<std::string> losses = describe_losses(*data, world);
  mpi::on_root(world, [&] {
    judge_bad(bad, std::ssize(bad) < data->info().num_samples, one.c_str(), source, params.predict.strict, true);
    for (const std::string& loss : losses) log_warning(fmt::format("{} = {}: {}", source.key, source.path, loss));
    if (opened) opened->commit();
  });
  // 3. The results
  if (grid.is_root()) {
    print("checkpoint: {}\n{}{}{}", model.describe(), sharing, describe_resizing(model.metadata, data->info()),
          explained);
    if (samples.is_one_file) {
      print("{}:\n{}", source.path, classes);
    } else {
      const std::int64_t num_bad = std::ssize(bad) + std::ssize(samples.skipped);
      print("{}: {}{}  ({:.0f} {}s/s){}\n", source.path, counted(opened->num_written(), "sample"),
            opened->top1() + shown_score(*metrics, runtime, model.metadata),
            static_cast<double>(data->info().num_samples) / (now_seconds() - start), one,
            num_bad == 0 ? "" : fmt::format("; skipped {}, named above", counted(num_bad, "bad " + one)));
    }
    if (opened) print("-> {}\n", paths.describe());
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
