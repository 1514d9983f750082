/// A network's predictions for a data set, as HDF5 that h5py opens:
///   /class_names   texts: the network's classes
///   /names         texts: the samples' names
///   /labels        int32 (N): indices in class_names; -1 if the sample's class is none of them
///   /logits        float32 (N,classes), contiguous, last
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/atomic_file.h"

namespace convoy::io {

/// The content of a file of predictions, without the logits.
struct PredictedSamples {
  std::vector<std::string> class_names;
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
};

/// Whether the file holds predictions. Throws Error if it cannot be read.
bool is_predictions_file(const std::string& path);

/// Writes the logits as they come, before it is known which samples will be left out. All members throw Error. Until
/// commit() there is only a temporary file, which the destructor removes.
class PredictionsWriter {
 public:
  /// `all_samples` are all samples that may get predictions.
  PredictionsWriter(const std::string& path, const PredictedSamples& all_samples);

  /// Appends the logits of the next samples, (count, classes).
  void append(std::span<const float> logits);
  /// Ends the file after all logits of `samples`, a subset of `all_samples` in the same order, and brings it to the
  /// disk. Throws Error if the number of logits differs.
  void finish(const PredictedSamples& samples);
  /// Gives the finished file its name.
  void commit() { file_.commit(); }

 private:
  std::uint64_t logits_bytes() const { return static_cast<std::uint64_t>(num_logits_) * sizeof(float); }

  std::uint64_t head_bytes_;  ///< reserved for the head; finish() may need less
  std::int64_t max_logits_;
  std::int64_t num_logits_ = 0;
  AtomicFile file_;
};

}  // namespace convoy::io
