/// The files of `convoy predict`, which rank 0 writes while the grid computes: a table with a file of outputs next to
/// it, or one of the two forms of outputs alone.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "convoy/data/open_samples.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/npy_writer.h"
#include "convoy/io/predictions.h"

#include "evaluation/evaluation.h"

namespace convoy {

struct Parameters;

/// The paths that predict.output asks for; a path that is empty is not written.
struct PredictionPaths {
  std::string csv;  ///< a row for each sample; not for fields
  std::string h5;   ///< outputs and targets (convoy/io/predictions.h), always next to a table
  std::string npy;  ///< (N,K) float32: probabilities of classes or labels, or numbers; or fields

  /// "predictions.csv, predictions.h5"
  std::string describe() const;
};

/// Returns the paths. Throws RequestError if predict.output ends in none of .csv, .h5 and .npy.
PredictionPaths prediction_paths(const Parameters& params);
/// Returns the paths for a network with this target. A field is not written as a table: throws RequestError if
/// predict.output asks for one.
PredictionPaths without_table_of_field(PredictionPaths paths, const Parameters& params, const Target& target);

class PredictionRows;

/// The open files of a prediction. They get their names when all are complete.
class PredictionFiles {
 public:
  /// Opens the files, before anything is computed. Throws RequestError naming predict.output if a file would replace
  /// one of `inputs` or another file than an earlier prediction, or cannot be created. `samples` must outlive this
  /// object.
  PredictionFiles(const PredictionPaths& paths, const OpenedSamples& samples, const io::ModelMetadata& metadata,
                  const Parameters& params, const std::vector<std::string>& inputs);
  ~PredictionFiles();

  /// Writes the predictions of a step. Samples that could not be read are left out; in .npy, whose rows have no names,
  /// they are NaN.
  void append(const StepOutputs& step);
  void commit();

  std::int64_t num_written() const { return std::ssize(written_.names); }
  /// Returns "  top-1 61.02 %" of the samples whose class the network knows; empty if there are none, and for labels
  /// and numbers.
  std::string top1() const;

 private:
  void append_one(std::int64_t sample, std::span<const float> outputs);

  const io::SampleStore& data_;
  const OtherColumns& others_;
  std::unique_ptr<PredictionRows> rows_;
  io::PredictedSamples samples_, written_;  ///< all samples; those that were written, which are not bad
  std::optional<io::PredictionsWriter> h5_;
  std::optional<io::AtomicFile> csv_;
  std::optional<io::NpyWriter> npy_;
  std::string text_;                   ///< rows of a step
  std::vector<float> of_h5_, of_npy_;  ///< values of a step
  std::vector<float> fields_, field_;  ///< true fields of a step, and one of them as the store has it
  std::int64_t num_known_ = 0, num_right_ = 0;
};

}  // namespace convoy
