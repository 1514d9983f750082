/// Defines what a network has to answer for a sample: a class, labels or numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

enum class TargetKind {
  kClass,    ///< one of K classes
  kLabels,   ///< a sample has each of K labels, or lacks it
  kNumbers,  ///< K real numbers, in the user's units
};

/// The word that files store.
constexpr const char* to_string(TargetKind kind) {
  return kind == TargetKind::kClass ? "class" : kind == TargetKind::kLabels ? "labels" : "numbers";
}
/// The word for the K outputs of a network: "classes", "labels" or "numbers".
constexpr const char* outputs_of(TargetKind kind) {
  return kind == TargetKind::kClass ? "classes" : to_string(kind);
}

/// Where a field has its channels in users' files.
enum class ChannelAxis { kLast, kFirst, kNone };

/// The word that files store.
constexpr const char* to_string(ChannelAxis axis) {
  return axis == ChannelAxis::kLast ? "last" : axis == ChannelAxis::kFirst ? "first" : "none";
}

/// The form of the answer. The names of its K outputs are in the class_names of data sets and checkpoints.
struct Target {
  TargetKind kind = TargetKind::kClass;
  /// Shape of the stored answer of one sample (n = 1): K labels or numbers, or one label of a class. A field has K
  /// numbers at each pixel.
  Shape shape = Shape::vectors(1, 1);
  /// Extents of numbers that are stored with the arrays of their sample, as float32: (H,W,K) or (T,K) of a field,
  /// channels last, or (K) of a long row. Empty: the answers of all samples are in the heads of shards.
  std::vector<std::int64_t> dims = {};
  ChannelAxis channel_axis = ChannelAxis::kLast;  ///< of a field; predictions of it are written in the same way
  /// (K) mean and standard deviation over the training samples; only of numbers. A deviation of 0 counts as 1.
  std::vector<double> mean = {}, stddev = {};
  /// Name of the array in the .npz or HDF5 file, or of the only column of the table, that it was imported from; else
  /// empty.
  std::string source = {};

  bool operator==(const Target&) const = default;
  /// Whether the answer of a sample is a member of its record.
  bool is_in_record() const { return !dims.empty(); }
  /// Whether the network answers at each pixel.
  bool is_field() const { return shape.length() > 1; }
  /// Number of outputs of a network for one sample, if it has `num_outputs` of them at each pixel.
  std::int64_t num_values(std::int64_t num_outputs) const { return shape.length() * num_outputs; }
};

}  // namespace convoy
