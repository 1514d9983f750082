/// Predicts: samples, weights, and two files that rank 0 writes while the grid computes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
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
#include "convoy/io/predictions.h"
#include "convoy/io/shard_writer.h"
#include "convoy/params/parse.h"

#include "checkpoint/checkpointing.h"
#include "checkpoint/make_metadata.h"
#include "evaluation/evaluation.h"
#include "evaluation/logits.h"
#include "inference/check_output.h"
#include "inference/inference.h"
#include "run/run_data.h"
#include "run/trained_model.h"
#include "watchdog/status_board.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

struct Files {
  std::string csv, h5;
};

Files output_files(const Parameters& params) {
  const std::string suffix = ".csv", given = params.predict.output;
  const std::string csv = given.empty() ? params.run.directory + "/predictions.csv" : given;
  if (!csv.ends_with(suffix))
    refuse("predict.output = {} must end in {}; the logits go to a .h5 file next to it.", csv, suffix);
  return {.csv = csv, .h5 = csv.substr(0, csv.size() - suffix.size()) + ".h5"};
}

// Columns that all tables of predictions begin with.
constexpr const char* kFirstColumns[] = {"name", "label", "class", "p1"};

bool is_earlier_csv(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line.starts_with(fmt::format("{}", fmt::join(kFirstColumns, ",")));
}

// Refuses outputs that would replace other files. Rank 0.
void check_files(const Files& files, const std::vector<std::string>& inputs) {
  const char* const kind = "predictions of convoy";
  check_output({.key = "predict.output", .path = files.csv, .kind = kind, .is_earlier = is_earlier_csv}, inputs);
  check_output({.key = "predict.output", .path = files.h5, .kind = kind, .is_earlier = io::is_predictions_file},
               inputs);
}

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
  const auto [path, key, is_of_model] = find_measured_data(params, model, "predict");
  if (is_of_model && is_root) print("{} = {}: as in the training of {}\n", key, path, model.owner());
  return {.path = path, .key = key, .split = key == "data.val" ? "val" : "test"};
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
  SamplesPath path{.path = source.path, .key = source.key, .verify = params.data.verify, .split = source.split};
  if (text != nullptr)
    path.files = TextFileOptions{.tokenization = text->tokenization, .columns = table_columns(request, *text)};
  else if (model.metadata.arrays() != nullptr)
    path.files = ArrayFileOptions{};
  else
    path.files = image_options(model.metadata.image(), params.predict.orient);
  return open_samples(path, world);
}

std::string class_name(const io::SampleStore& data, std::int64_t sample) {
  const std::int32_t label = data.label(sample);
  return label == ops::kNoLabel ? "" : data.info().class_names[label];
}

// Returns the samples with the store's names, or with their numbers; labels are named by their classes.
io::PredictedSamples describe_samples(const io::SampleStore& data, const std::vector<std::string>& class_names) {
  std::map<std::string, std::int32_t> position;
  for (std::int64_t k = 0; k < std::ssize(class_names); ++k) position[class_names[k]] = static_cast<std::int32_t>(k);
  io::PredictedSamples samples{.class_names = class_names, .names = {}, .labels = {}};
  for (std::int64_t i = 0; i < data.info().num_samples; ++i) {
    const std::string name = data.name(i);
    samples.names.push_back(name.empty() ? fmt::format("{}", i) : name);
    const auto found = position.find(class_name(data, i));
    samples.labels.push_back(found == position.end() ? ops::kNoLabel : found->second);
  }
  return samples;
}

// Returns our columns, then the table's own; if one of these has a name of ours, as in label, it becomes "table_label".
std::string csv_header(std::int64_t top, const OtherColumns& others) {
  std::vector<std::string> names(std::begin(kFirstColumns), std::end(kFirstColumns));
  for (std::int64_t k = 2; k <= top; ++k) names.insert(names.end(), {fmt::format("class{}", k), fmt::format("p{}", k)});
  for (std::string name : others.names) {
    while (std::ranges::find(names, name) != names.end()) name.insert(0, "table_");
    names.push_back(name);
  }
  std::string header;
  for (const std::string& name : names) header += (header.empty() ? "" : ",") + csv_field(name);
  return header + "\n";
}

/// Rank 0's two files: they get their names when both are complete.
class PredictionFiles {
 public:
  PredictionFiles(const Files& files, const OpenedSamples& opened, const io::PredictedSamples& samples,
                  std::int64_t top)
      : data_(*opened.store),
        others_(opened.others),
        samples_(samples),
        written_{.class_names = samples.class_names, .names = {}, .labels = {}},
        top_(std::min(top, std::ssize(samples.class_names))),
        h5_(files.h5, samples),
        csv_(files.csv, 0) {
    const std::string header = csv_header(top_, others_);
    csv_.write(std::as_bytes(std::span(header)));
  }

  void append(const StepLogits& step) {
    const std::size_t num_classes = samples_.class_names.size();
    rows_.clear();
    logits_.clear();
    for (std::size_t i = 0; i * num_classes < step.logits.size(); ++i)
      if (step.bad[i] == 0)
        append_one(step.first_sample + static_cast<std::int64_t>(i), step.logits.subspan(i * num_classes, num_classes));
    h5_.append(logits_);
    csv_.write(std::as_bytes(std::span(rows_)));
  }

  void commit() {
    h5_.finish(written_);
    csv_.finish();
    h5_.commit();
    csv_.commit();
  }

  std::int64_t num_written() const { return std::ssize(written_.names); }
  /// Returns top-1 of the samples whose class the network knows; empty if there are none.
  std::string top1() const {
    if (num_known_ == 0) return "";
    return fmt::format("  top-1 {:.2f} %", 100.0 * static_cast<double>(num_right_) / static_cast<double>(num_known_));
  }

 private:
  void append_one(std::int64_t sample, std::span<const float> logits) {
    const std::vector<std::int64_t> best = best_classes(logits, top_);
    const std::vector<double> p = probabilities(logits);
    const auto row = std::back_inserter(rows_);
    fmt::format_to(row, "{},{}", csv_field(samples_.names[sample]), csv_field(class_name(data_, sample)));
    for (const std::int64_t k : best)
      fmt::format_to(row, ",{},{:.6g}", csv_field(samples_.class_names[k]), p[static_cast<std::size_t>(k)]);
    if (!others_.rows.empty()) rows_ += others_.rows[static_cast<std::size_t>(sample)];
    rows_ += '\n';

    const std::int32_t label = samples_.labels[sample];
    if (label != ops::kNoLabel) ++num_known_;
    if (label == best.front()) ++num_right_;
    written_.names.push_back(samples_.names[sample]);
    written_.labels.push_back(label);
    logits_.insert(logits_.end(), logits.begin(), logits.end());
  }

  const io::SampleStore& data_;
  const OtherColumns& others_;
  const io::PredictedSamples samples_;
  io::PredictedSamples written_;  ///< samples that were written: not those left out
  std::int64_t top_;
  io::PredictionsWriter h5_;
  io::AtomicFile csv_;
  std::string rows_;  ///< rows of a step
  std::vector<float> logits_;
  std::int64_t num_known_ = 0, num_right_ = 0;
};

void check_finite(const StepLogits& step, const io::SampleStore& data, std::int64_t num_classes) {
  const auto is_finite = [](float z) { return std::isfinite(z); };
  const auto bad = std::find_if_not(step.logits.begin(), step.logits.end(), is_finite);
  if (bad == step.logits.end()) return;
  const std::int64_t sample = step.first_sample + (bad - step.logits.begin()) / num_classes;
  fail("sample {} ('{}') gives logits that are not finite numbers", sample, excerpt(data.name(sample)));
}

// Opens the files. Refuses, before anything is computed, a file that cannot be written.
void open_files(const Parameters& params, const Files& files, const OpenedSamples& samples,
                const std::vector<std::string>& class_names, std::optional<PredictionFiles>& opened) {
  const io::PredictedSamples described = describe_samples(*samples.store, class_names);  // not in `try`
  try {
    if (params.predict.output.empty()) io::make_directory(params.run.directory);
    opened.emplace(files, samples, described, params.predict.top);
  } catch (const Error& error) {
    const fs::path folder = fs::path(files.csv).parent_path();
    std::error_code unknown;
    const bool is_missing = !folder.empty() && fs::status(folder, unknown).type() == fs::file_type::not_found;
    refuse("predict.output: {}{}", error.what(), !is_missing ? "" : ". Choose another folder, or create this one.");
  }
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

ExitStatus predict(const Request& request, const ProcessGrid& grid, ops::Backend& backend, StatusBoard& board) {
  const Parameters& params = request.params;
  // 1. What is asked for
  check_not_empty(request);
  const Files files = output_files(params);
  const mpi::Communicator& world = grid.world();
  const bool writes_weights = find_weight_sharers(grid, backend.device()).rank() == 0;
  TrainedModel model = load_trained(request, world, writes_weights);
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
  if (!runtime.plan().gives_logits())
    refuse(
        "{} was trained for {}, not for classes: train model.name = bert_classifier from its weights (init.weights), "
        "and predict with that.",
        model.owner(), fmt::join(runtime.plan().objectives(), " and "));
  restore_weights(std::exchange(model.tensors, {}), model.path, runtime);  // and frees them
  const std::vector<std::string>& class_names = model.metadata.class_names;
  // Rank 0. The classes of a single picture or text are printed, and written only if predict.output asks for it.
  std::optional<PredictionFiles> opened;
  mpi::on_root(world, [&] {
    if (samples.is_one_file && params.predict.output.empty()) return;
    check_files(files, {source.path, model.path});
    open_files(params, files, samples, class_names, opened);
  });
  const std::string sharing = runtime.shared_weights()->describe();
  // 2. All samples, in order
  const double start = now_seconds();
  std::vector<BadSample> own_bad;
  std::string classes;
  const auto must_stop = [&] { return params.predict.strict && world.max(own_bad.empty() ? 0 : 1) > 0; };
  const auto observe = [&](const StepLogits& step) {
    check_finite(step, *data, std::ssize(class_names));
    if (samples.is_one_file) classes = class_list(step.logits, class_names, params.predict.top);
    if (opened) opened->append(step);
  };
  evaluate_dataset(evaluation, {.samples = *data,
                                .metadata = model.metadata,
                                .params = params,
                                .work = "predict",
                                .stop = must_stop,
                                .observe = observe,
                                .bad = &own_bad});
  const std::vector<SkippedSample> bad = gather_bad(world, own_bad, *data);
  const std::vector<std::string> losses = describe_losses(*data, world);
  mpi::on_root(world, [&] {
    judge_bad(bad, std::ssize(bad) < data->info().num_samples, "image", source, params.predict.strict, true);
    for (const std::string& loss : losses) log_warning(fmt::format("{} = {}: {}", source.key, source.path, loss));
    if (opened) opened->commit();
  });
  // 3. The results
  if (grid.is_root()) {
    print("checkpoint: {}\n{}{}", model.describe(), sharing, describe_resizing(model.metadata, data->info()));
    if (samples.is_one_file) {
      print("{}:\n{}", source.path, classes);
    } else {
      const std::int64_t num_bad = std::ssize(bad) + std::ssize(samples.skipped);
      const std::string one(input_kinds::one_of(data->info().kind));
      print("{}: {}{}  ({:.0f} {}s/s){}\n", source.path, counted(opened->num_written(), "sample"), opened->top1(),
            static_cast<double>(data->info().num_samples) / (now_seconds() - start), one,
            num_bad == 0 ? "" : fmt::format("; skipped {}, named above", counted(num_bad, "bad " + one)));
    }
    if (opened) print("-> {}, {}\n", files.csv, files.h5);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
