/// A prediction: data, weights, and two files that rank 0 writes while the grid computes.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>

#include "convoy/base/clock.h"
#include "convoy/base/text.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/predictions.h"
#include "convoy/io/shard_writer.h"
#include "convoy/train/trainer.h"

#include "io/atomic_file.h"
#include "train/checkpointing.h"
#include "train/class_scores.h"
#include "train/evaluation.h"
#include "train/restart.h"

namespace convoy {

namespace {

struct Files {
  std::string csv, h5;
};

Files output_files(const Parameters& params) {
  const std::string suffix = ".csv", given = params.predict.output;
  const std::string csv = given.empty() ? params.run.directory + "/predictions.csv" : given;
  if (!csv.ends_with(suffix))
    refuse("predict.output = {} must end in {}; the logits go to a .h5 file beside it.", csv, suffix);
  return {.csv = csv, .h5 = csv.substr(0, csv.size() - suffix.size()) + ".h5"};
}

struct Source {
  std::string path, key;
};

Source input_data(const Parameters& params) {
  if (!params.predict.data.empty()) return {.path = params.predict.data, .key = "predict.data"};
  if (!params.data.test.empty()) return {.path = params.data.test, .key = "data.test"};
  refuse("convoy predict needs predict.data (what to predict), or data.test in its place.");
}

// The shard's names, or the samples' numbers; labels by the names of their classes.
io::PredictedSamples describe_samples(const io::Dataset& data, const std::vector<std::string>& class_names) {
  std::map<std::string, std::int32_t> position;
  for (std::int64_t k = 0; k < std::ssize(class_names); ++k) position[class_names[k]] = static_cast<std::int32_t>(k);
  io::PredictedSamples samples{.class_names = class_names, .names = {}, .labels = {}};
  for (std::int64_t i = 0; i < data.info().num_samples; ++i) {
    const std::string name = data.name(i);
    samples.names.push_back(name.empty() ? fmt::format("{}", i) : name);
    const auto found = position.find(data.info().class_names[data.label(i)]);
    samples.labels.push_back(found == position.end() ? ops::kNoLabel : found->second);
  }
  return samples;
}

/// Rank 0's two files: they get their names when both are whole.
class PredictionFiles {
 public:
  PredictionFiles(const Files& files, const io::Dataset& data, io::PredictedSamples samples, std::int64_t top);

  /// Logits of the samples from `first` on.
  void append(std::int64_t first, std::span<const float> logits);
  void commit();

 private:
  std::string row(std::int64_t sample, std::span<const float> logits) const;

  const io::Dataset& data_;
  io::PredictedSamples samples_;
  std::int64_t top_;
  io::PredictionsWriter h5_;
  io::AtomicFile csv_;
};

PredictionFiles::PredictionFiles(const Files& files, const io::Dataset& data, io::PredictedSamples samples,
                                 std::int64_t top)
    : data_(data),
      samples_(std::move(samples)),
      top_(std::min(top, std::ssize(samples_.class_names))),
      h5_(files.h5, samples_),
      csv_(files.csv, 0) {
  std::string header = "name,label,class,p1";
  for (std::int64_t k = 2; k <= top_; ++k) header += fmt::format(",class{},p{}", k, k);
  csv_.write(std::as_bytes(std::span(header += "\n")));
}

// p_k = exp(z_k - max z) / sum, in double.
std::string PredictionFiles::row(std::int64_t sample, std::span<const float> logits) const {
  const std::vector<std::int64_t> best = best_classes(logits, top_);
  const double largest = logits[best.front()];
  double sum = 0;
  for (const float z : logits) sum += std::exp(z - largest);
  std::string text =
      fmt::format("{},{}", csv_field(samples_.names[sample]), csv_field(data_.info().class_names[data_.label(sample)]));
  for (const std::int64_t k : best)
    text += fmt::format(",{},{:.6g}", csv_field(samples_.class_names[k]), std::exp(logits[k] - largest) / sum);
  return text + "\n";
}

void PredictionFiles::append(std::int64_t first, std::span<const float> logits) {
  const std::size_t num_classes = samples_.class_names.size();
  h5_.append(logits);
  std::string rows;
  for (std::int64_t sample = first; !logits.empty(); ++sample, logits = logits.subspan(num_classes)) {
    const auto own = logits.first(num_classes);
    if (!std::all_of(own.begin(), own.end(), [](float z) { return std::isfinite(z); }))
      fail("sample {} ({}) gives logits that are no finite numbers", sample, samples_.names[sample]);
    rows += row(sample, own);
  }
  csv_.write(std::as_bytes(std::span(rows)));
}

void PredictionFiles::commit() {
  h5_.finish();
  csv_.finish();
  h5_.commit();
  csv_.commit();
}

// Refused before anything is computed where a file cannot be written.
void open_files(const Parameters& params, const Files& files, const io::Dataset& data,
                const std::vector<std::string>& class_names, std::optional<PredictionFiles>& opened) {
  try {
    if (params.predict.output.empty()) io::make_directory(params.run.directory);
    opened.emplace(files, data, describe_samples(data, class_names), params.predict.top);
  } catch (const Error& error) {
    refuse("predict.output: {}. Choose another folder, or make this one.", error.what());
  }
}

}  // namespace

ExitStatus predict(const Parameters& params, const ProcessGrid& grid, ops::Library& library) {
  // 1. What is asked for
  const Files files = output_files(params);
  const Source source = input_data(params);
  const io::Dataset data(source.path, source.key);
  const TrainedModel model = load_trained(params, grid.world());
  check_images(model.card, data.info(), source.key, model.owner());
  Engine engine(engine_spec(params, model.card), grid, library);
  restore_weights(model.tensors, model.path, engine);
  std::optional<PredictionFiles> opened;  // rank 0
  mpi::on_root(grid.world(), [&] { open_files(params, files, data, model.card.class_names, opened); });
  // 2. All samples, in order
  const double start = now_seconds();
  const LogitsObserver observe = [&](std::int64_t first, std::span<const float> logits) {
    opened->append(first, logits);
  };
  const StepMetrics metrics =
      evaluate_dataset(engine, {.dataset = data, .card = model.card, .params = params, .observe = observe}).value();
  mpi::on_root(grid.world(), [&] { opened->commit(); });
  // 3. What there is now
  if (grid.is_root()) {
    const auto count = data.info().num_samples;
    const std::string top1 = metrics.num_samples > 0 ? fmt::format("  top-1 {:.2f} %", 100 * metrics.top1()) : "";
    fmt::print("checkpoint: {}\n", model.describe());
    fmt::print("{}: {} samples{}  ({:.0f} images/s)\n", source.path, count, top1,
               static_cast<double>(count) / (now_seconds() - start));
    fmt::print("-> {}, {}\n", files.csv, files.h5);
  }
  return ExitStatus::kDone;
}

}  // namespace convoy
