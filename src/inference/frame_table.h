/// The table of predicted frames, whose rows can be read while the film goes on.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/file_descriptor.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/predictions.h"
#include "convoy/io/sample_store.h"

#include "evaluation/evaluation.h"
#include "inference/prediction_rows.h"

namespace convoy {

struct Parameters;

/// Writes a row for each frame: its number, and the columns that other predictions of classes have. The file has its
/// name from the beginning, and keeps its rows if the program is ended.
class FrameTable {
 public:
  /// Creates the file, predict.output or frames.csv in run.directory. Throws RequestError if predict.output does not
  /// end in .csv, or if the file would replace `input` or another file than an earlier table of frames. `frames` and
  /// `metadata` must outlive this object.
  FrameTable(const Parameters& params, const io::SampleStore& frames, const io::ModelMetadata& metadata,
             const std::string& input);

  const std::string& path() const { return path_; }
  /// Writes the rows of a step.
  void append(const StepOutputs& step);

 private:
  void write(const std::string& text);

  std::string path_;
  const io::SampleStore& frames_;
  io::PredictedSamples samples_;
  std::unique_ptr<PredictionRows> rows_;
  FileDescriptor file_;
  std::uint64_t size_bytes_ = 0;
  std::string text_;  ///< rows of a step
};

}  // namespace convoy
