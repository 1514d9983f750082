/// Writes a network's predictions for a data set to an HDF5 file, which h5py can open:
///   /names         texts: the samples' names
///   classes:
///   /class_names   texts: the network's classes
///   /labels        int32 (N): indices in class_names; -1 if the sample's class is none of them
///   /logits        float32 (N,classes), contiguous, last
///   several labels of a sample, or numbers:
///   /target_kind   text: "labels" or "numbers"
///   /output_names  texts (K): the names of the labels or numbers
///   /targets       float32 (N,K): labels, 0 or 1, or true numbers; NaN: not known. Absent if none is known
///   /logits        float32 (N,K), contiguous, last: of each label; its probability is 1 / (1 + exp(-logit))
///   /outputs       float32 (N,K), contiguous, last: predicted numbers, in their own units
///   fields, and numbers that are stored with the arrays:
///   /target_channel_axis  text: "last", "first" or "none": where these files have the axis of the K channels
///   /outputs, /targets    float32 (N,...), contiguous, last, with the axes of the files that were imported
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/target.h"
#include "convoy/io/atomic_file.h"

namespace convoy::io {

/// The content of a file of predictions, without the outputs; the vectors `names`, `labels` and `targets` have one
/// entry or row per sample.
struct PredictedSamples {
  TargetKind kind = TargetKind::kClass;
  std::vector<std::string> class_names;  ///< (K) names of the classes, labels or numbers
  std::vector<std::string> names;        ///< (N) names of the samples
  std::vector<std::int32_t> labels;      ///< (N) classes; empty for labels and numbers
  std::vector<float> targets = {};       ///< (N,K) true labels or numbers; empty for classes, or if none is known
  std::vector<std::int64_t> dims = {};   ///< extents of the outputs for a sample; empty: (K)
  ChannelAxis channel_axis = ChannelAxis::kLast;  ///< where `dims` have the channels
  /// Whether targets with the extents `dims` are appended with the outputs: they may be too large for the memory.
  bool appends_targets = false;

  std::int64_t num_outputs() const;  ///< number of outputs for a sample
};

/// Whether the file holds predictions. Throws Error if it cannot be read.
bool is_predictions_file(const std::string& path);

/// Writes a file of predictions. Outputs are written as they are computed, before it is known which samples will be
/// left out. All members throw Error. Until commit() there is only a temporary file, which the destructor removes.
class PredictionsWriter {
 public:
  /// `all_samples` are all samples that may get predictions.
  PredictionsWriter(const std::string& path, const PredictedSamples& all_samples);

  /// Appends the outputs for the next samples, (count, K) values, and as many values of targets if these are appended.
  void append(std::span<const float> outputs, std::span<const float> targets = {});
  /// Completes the file after the outputs for all `samples` were appended, and flushes it to the disk. `samples` is a
  /// subset of `all_samples` in the same order. Throws Error if the number of outputs does not match.
  void finish(const PredictedSamples& samples);
  /// Renames the finished file to its final name.
  void commit() { file_.commit(); }

 private:
  std::uint64_t outputs_bytes() const { return static_cast<std::uint64_t>(num_outputs_) * sizeof(float); }
  std::uint64_t targets_begin() const { return head_bytes_ + static_cast<std::uint64_t>(max_outputs_) * sizeof(float); }

  std::uint64_t head_bytes_;  ///< size reserved for the head of the file in bytes; finish() may need less
  std::int64_t max_outputs_;
  bool appends_targets_;
  std::int64_t num_outputs_ = 0;
  AtomicFile file_;
};

}  // namespace convoy::io
