/// Writes the rows of a step at once, at the end of the file.
#include "inference/frame_table.h"

#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parameters.h"

#include "inference/check_output.h"

namespace convoy {

namespace {

constexpr const char* kFirstColumn = "frame";

std::string path_of_table(const Parameters& params) {
  const std::string& given = params.predict.output;
  if (given.empty()) return params.run.directory + "/frames.csv";
  if (given.ends_with(".csv")) return given;
  refuse(
      "predict.output = {} must end in .csv: frames are predicted until the stream ends, and only a table can be "
      "written before their number is known",
      given);
}

bool is_earlier_table(const std::string& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line.starts_with(fmt::format("{},label,class,p1", kFirstColumn));
}

}  // namespace

FrameTable::FrameTable(const Parameters& params, const io::SampleStore& frames, const io::ModelMetadata& metadata,
                       const std::string& input)
    : path_(path_of_table(params)), frames_(frames) {
  samples_.kind = metadata.target.kind;
  samples_.class_names = metadata.class_names;
  rows_ = make_prediction_rows(metadata.target, frames, samples_, params.predict.top);
  check_output({.key = "predict.output",
                .path = path_,
                .kind = "predictions of frames by convoy",
                .is_earlier = is_earlier_table},
               {input});
  try {
    if (params.predict.output.empty()) io::make_directory(params.run.directory);
    file_ = io::open_for_writing(path_);
  } catch (const Error& error) {
    refuse("predict.output: {}", error.what());
  }
  std::string header = kFirstColumn;
  for (const std::string& name : rows_->columns()) header += ',' + csv_field(name);
  write(header + '\n');
}

void FrameTable::append(const StepOutputs& step) {
  const std::size_t width = samples_.class_names.size();
  text_.clear();
  for (std::size_t i = 0; i * width < step.outputs.size(); ++i) {
    const std::int64_t sample = step.first_sample + static_cast<std::int64_t>(i);
    text_ += frames_.name(sample);
    rows_->add_fields(sample, step.outputs.subspan(i * width, width), text_);
    text_ += '\n';
  }
  write(text_);
}

void FrameTable::write(const std::string& text) {
  if (const int error = io::write_all_at(file_, size_bytes_, std::as_bytes(std::span(text))); error != 0)
    fail("predict.output: cannot write rows to '{}': {}. The rows before are in the file", path_, std::strerror(error));
  size_bytes_ += text.size();
}

}  // namespace convoy
