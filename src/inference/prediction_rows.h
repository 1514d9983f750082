/// The predictions for one sample, as fields of a table and as values of files, for each kind of target.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/target.h"
#include "convoy/io/predictions.h"
#include "convoy/io/sample_store.h"

namespace convoy {

/// Writes what a network predicts for a sample. `outputs` (K), or a field, are those of the network, as in StepOutputs.
class PredictionRows {
 public:
  virtual ~PredictionRows() = default;

  /// Names of the table's columns after the sample's name.
  virtual std::vector<std::string> columns() const = 0;
  /// Appends the fields of these columns to a row, each after a comma.
  virtual void add_fields(std::int64_t sample, std::span<const float> outputs, std::string& row) const = 0;
  /// Appends K values as .npy has them: probabilities of classes or labels, or numbers in their own units. A field has
  /// its channels where the imported files had them.
  virtual void add_values(std::span<const float> outputs, std::vector<float>& values) const = 0;
  /// Appends K values as HDF5 files have them: logits of classes or labels, or numbers in their own units.
  virtual void add_outputs(std::span<const float> outputs, std::vector<float>& values) const = 0;
  /// Appends a true field, which a store has with its channels last, as add_values() appends a predicted one.
  virtual void add_field(std::span<const float> field, std::vector<float>& values) const;
};

/// Makes the rows for a network with this target. `data` has the samples, and `samples` what is known of them. A row of
/// classes has the `top` most probable ones. The arguments must outlive the object.
std::unique_ptr<PredictionRows> make_prediction_rows(const Target& target, const io::SampleStore& data,
                                                     const io::PredictedSamples& samples, std::int64_t top);

/// Returns the samples with the store's names, or with their numbers. Labels are named by their classes, `class_names`
/// of the network with this target; labels and numbers of samples count only if the store has the same names. Those
/// that are stored with the arrays are not read here, as all fields would be too large for the memory.
io::PredictedSamples describe_samples(const io::SampleStore& data, const std::vector<std::string>& class_names,
                                      const Target& target);

}  // namespace convoy
