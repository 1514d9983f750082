/// A network's predictions for a data set, as HDF5 that h5py opens:
///   /class_names   texts: the network's classes
///   /names         texts: the samples'
///   /labels        int32 (N): positions in class_names; -1 where the sample's class is none of them
///   /logits        float32 (N,classes), contiguous, last
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/io/atomic_file.h"

namespace convoy::io {

/// All but the logits.
struct PredictedSamples {
  std::vector<std::string> class_names;
  std::vector<std::string> names;
  std::vector<std::int32_t> labels;
};

/// Whether the file is one of predictions. Throws Error where it cannot be read.
bool is_predictions_file(const std::string& path);

/// Takes the logits as they come, before it is known which samples will be left out. All members throw Error. Until
/// commit() only a temporary file is there; destroyed, it is gone.
class PredictionsWriter {
 public:
  /// `all_samples`: all samples that there may be.
  PredictionsWriter(const std::string& path, const PredictedSamples& all_samples);

  /// (count, classes) of the next samples.
  void append(std::span<const float> logits);
  /// All logits are there, of `samples`, some of `all_samples` in their order: brings the file to the disk.
  void finish(const PredictedSamples& samples);
  /// Gives the finished file its name.
  void commit() { file_.commit(); }

 private:
  std::uint64_t logits_bytes() const { return static_cast<std::uint64_t>(num_logits_) * sizeof(float); }

  std::uint64_t head_bytes_;  ///< kept for it, until the end shows that less is enough
  std::int64_t max_logits_;
  std::int64_t num_logits_ = 0;
  AtomicFile file_;
};

}  // namespace convoy::io
