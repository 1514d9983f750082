/// Writes a network's predictions for a data set to an HDF5 file, which h5py can open:
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

/// The content of a file of predictions, without the logits; the vectors `names` and `labels` have one entry per
/// sample.
struct PredictedSamples {
  std::vector<std::string> class_names;
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
};

/// Whether the file holds predictions. Throws Error if it cannot be read.
bool is_predictions_file(const std::string& path);

/// Writes a file of predictions. Logits are written as they are computed, before it is known which samples will be left
/// out. All members throw Error. Until commit() there is only a temporary file, which the destructor removes.
class PredictionsWriter {
 public:
  /// `all_samples` are all samples that may get predictions.
  PredictionsWriter(const std::string& path, const PredictedSamples& all_samples);

  /// Appends the logits of the next samples, (count, classes) values.
  void append(std::span<const float> logits);
  /// Completes the file after the logits of all `samples` were appended, and flushes it to the disk. `samples` is a
  /// subset of `all_samples` in the same order. Throws Error if the number of logits does not match.
  void finish(const PredictedSamples& samples);
  /// Renames the finished file to its final name.
  void commit() { file_.commit(); }

 private:
  std::uint64_t logits_bytes() const { return static_cast<std::uint64_t>(num_logits_) * sizeof(float); }

  std::uint64_t head_bytes_;  ///< size reserved for the head of the file in bytes; finish() may need less
  std::int64_t max_logits_;
  std::int64_t num_logits_ = 0;
  AtomicFile file_;
};

}  // namespace convoy::io
