/// Chooses the files by the end of predict.output, and writes each row to all of them.
#include "inference/prediction_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "inference/check_output.h"
#include "inference/prediction_rows.h"

namespace convoy {

namespace {

namespace fs = std::filesystem;

// Returns our columns, then the table's own; if one of these has a name of ours, as in label, it becomes "table_label".
std::string csv_header(const PredictionRows& rows, const OtherColumns& others) {
  std::vector<std::string> names = rows.columns();
  names.insert(names.begin(), "name");
  for (std::string name : others.names) {
    while (std::ranges::find(names, name) != names.end()) name.insert(0, "table_");
    names.push_back(name);
  }
  std::string header;
  for (const std::string& name : names) header += (header.empty() ? "" : ",") + csv_field(name);
  return header + "\n";
}

bool is_predictions_file(const std::string& path) {
  return fs::is_regular_file(path) && io::is_predictions_file(path);
}

// Whether a table begins as those of classes and labels do. A table of numbers has columns that any table may have: it
// is ours if the outputs of a prediction are next to it. Its columns differ if only one of the two predictions knows
// the true numbers.
bool is_earlier_csv(const PredictionPaths& paths) {
  std::string line;
  std::getline(std::ifstream(paths.csv), line);
  if (line.starts_with("name,label,class,p1") || line.starts_with("name,labels,predicted,")) return true;
  return line.starts_with("name,") && is_predictions_file(paths.h5);
}

void check_files(const PredictionPaths& paths, const std::vector<std::string>& inputs) {
  const auto check = [&](const std::string& path, const std::function<bool(const std::string& path)>& is_earlier) {
    if (!path.empty())
      check_output({.key = "predict.output", .path = path, .kind = "predictions of convoy", .is_earlier = is_earlier},
                   inputs);
  };
  check(paths.csv, [&](const std::string&) { return is_earlier_csv(paths); });
  check(paths.h5, io::is_predictions_file);
  check(paths.npy, io::is_own_npy);
}

}  // namespace

std::string PredictionPaths::describe() const {
  std::vector<std::string> paths;
  for (const std::string& path : {csv, h5, npy})
    if (!path.empty()) paths.push_back(path);
  return fmt::format("{}", fmt::join(paths, ", "));
}

PredictionPaths prediction_paths(const Parameters& params) {
  const std::string &given = params.predict.output, csv = ".csv";
  const std::string path = given.empty() ? params.run.directory + "/predictions.csv" : given;
  if (path.ends_with(csv)) return {.csv = path, .h5 = path.substr(0, path.size() - csv.size()) + ".h5", .npy = ""};
  if (path.ends_with(".h5")) return {.csv = "", .h5 = path, .npy = ""};
  if (path.ends_with(".npy")) return {.csv = "", .h5 = "", .npy = path};
  refuse("predict.output = {} must end in .csv (the outputs go to a .h5 file next to it), .h5 or .npy.", path);
}

PredictionPaths without_table_of_field(PredictionPaths paths, const Parameters& params, const Target& target) {
  if (!target.is_field() || paths.csv.empty()) return paths;
  if (!params.predict.output.empty())
    refuse(
        "predict.output = {}: the network answers {} pixels for each sample, which are no row of a table. Give a name "
        "that ends in .npy or .h5",
        params.predict.output, io::describe_pixels(target));
  paths.csv = "";
  return paths;
}

PredictionFiles::PredictionFiles(const PredictionPaths& paths, const OpenedSamples& opened,
                                 const io::ModelMetadata& metadata, const Parameters& params,
                                 const std::vector<std::string>& inputs)
    : data_(*opened.store),
      others_(opened.others),
      samples_(describe_samples(*opened.store, metadata.class_names, metadata.target)) {
  rows_ = make_prediction_rows(metadata.target, *opened.store, samples_, params.predict.top);
  written_ = {.kind = samples_.kind,
              .class_names = samples_.class_names,
              .names = {},
              .labels = {},
              .dims = samples_.dims,
              .channel_axis = samples_.channel_axis,
              .appends_targets = samples_.appends_targets};
  const std::string header = csv_header(*rows_, others_);
  check_files(paths, inputs);
  try {
    if (params.predict.output.empty()) io::make_directory(params.run.directory);
    if (!paths.h5.empty()) h5_.emplace(paths.h5, samples_);
    if (!paths.csv.empty()) csv_.emplace(paths.csv, 0);
    const std::vector<std::int64_t> row = {std::ssize(samples_.class_names)};
    if (!paths.npy.empty())
      npy_.emplace(paths.npy, samples_.dims.empty() ? row : samples_.dims, std::ssize(samples_.names));
    if (csv_) csv_->write(std::as_bytes(std::span(header)));
  } catch (const Error& error) {
    const fs::path folder = fs::path(!paths.h5.empty() ? paths.h5 : paths.npy).parent_path();
    std::error_code unknown;
    const bool is_missing = !folder.empty() && fs::status(folder, unknown).type() == fs::file_type::not_found;
    refuse("predict.output: {}{}", error.what(), !is_missing ? "" : ". Choose another folder, or create this one.");
  }
}

PredictionFiles::~PredictionFiles() = default;

void PredictionFiles::append(const StepOutputs& step) {
  const auto width = static_cast<std::size_t>(samples_.num_outputs());
  text_.clear();
  of_h5_.clear();
  of_npy_.clear();
  fields_.clear();
  for (std::size_t i = 0; i * width < step.outputs.size(); ++i) {
    if (!step.is_bad(i))
      append_one(step.first_sample + static_cast<std::int64_t>(i), step.outputs.subspan(i * width, width));
    else if (npy_)
      of_npy_.insert(of_npy_.end(), width, std::numeric_limits<float>::quiet_NaN());
  }
  if (h5_) h5_->append(of_h5_, fields_);
  if (csv_) csv_->write(std::as_bytes(std::span(text_)));
  if (npy_) npy_->append(of_npy_);
}

void PredictionFiles::append_one(std::int64_t sample, std::span<const float> outputs) {
  const auto place = static_cast<std::size_t>(sample);
  if (csv_) {
    text_ += csv_field(samples_.names[place]);
    rows_->add_fields(sample, outputs, text_);
    if (!others_.rows.empty()) text_ += others_.rows[place];
    text_ += '\n';
  }
  if (npy_) rows_->add_values(outputs, of_npy_);
  if (h5_) rows_->add_outputs(outputs, of_h5_);
  if (h5_ && samples_.appends_targets) {
    field_.resize(outputs.size());
    data_.read_target(sample, field_);
    rows_->add_field(field_, fields_);
  }
  written_.names.push_back(samples_.names[place]);
  if (!samples_.targets.empty()) {
    const auto known = std::span(samples_.targets).subspan(place * outputs.size(), outputs.size());
    written_.targets.insert(written_.targets.end(), known.begin(), known.end());
  }
  if (samples_.labels.empty()) return;
  const std::int32_t label = samples_.labels[place];
  if (label != ops::kNoLabel) ++num_known_;
  if (label == std::ranges::max_element(outputs) - outputs.begin()) ++num_right_;
  written_.labels.push_back(label);
}

void PredictionFiles::commit() {
  if (h5_) h5_->finish(written_);
  if (csv_) csv_->finish();
  if (npy_) npy_->finish();
  if (h5_) h5_->commit();
  if (csv_) csv_->commit();
  if (npy_) npy_->commit();
}

std::string PredictionFiles::top1() const {
  if (num_known_ == 0) return "";
  return fmt::format("  top-1 {:.2f} %", 100.0 * static_cast<double>(num_right_) / static_cast<double>(num_known_));
}

}  // namespace convoy
