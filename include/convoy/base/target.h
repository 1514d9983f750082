/// Defines what a network has to answer for a sample: a class, labels or numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/shape.h"

namespace convoy {

enum class TargetKind {
  kClass,    ///< one of K classes
  kLabels,   ///< each of K labels is there or not
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

/// The form of the answer. The names of its K outputs are in the class_names of data sets and checkpoints.
struct Target {
  TargetKind kind = TargetKind::kClass;
  /// Shape of the stored answer of one sample (n = 1): K labels or numbers, or one label of a class.
  Shape shape = Shape::vectors(1, 1);
  /// (K) mean and standard deviation over the training samples; only of numbers. A deviation of 0 counts as 1.
  std::vector<double> mean = {}, stddev = {};

  bool operator==(const Target&) const = default;
};

}  // namespace convoy
