/// The parameters of layers, and the running statistics that are stored and sent with them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// The distribution of a parameter's initial values.
struct InitialValues {
  enum class Kind {
    kConstant,
    kUniform,  ///< uniform in (-size, size)
    kNormal,   ///< normal with mean 0 and standard deviation `size`
  };
  Kind kind = Kind::kConstant;
  double size = 0;  ///< the value of kConstant, the bound of kUniform, the standard deviation of kNormal

  bool operator==(const InitialValues&) const = default;
};

/// The order in which files store the values of a parameter.
enum class FileOrder {
  kAsOnDevice,            ///< the same as in the device's memory
  kChannelsBeforePixels,  ///< (O,I,H,W) in files, (O,H,W,I) in the device's memory
};

/// The rule by which a step changes a parameter.
enum class UpdateRule {
  kOptimizer,
  kMovingAverage,  ///< a running statistic, whose "gradient" is the statistic of the micro-batch
};

/// The role of a parameter, which decides how optimizers treat it.
enum class ParameterRole {
  kWeight,
  kEmbedding,  ///< a table whose rows are looked up; has weight decay only with optimizer.decay_embeddings
  /// Has weight decay only with optimizer.decay_norms_and_biases; LARS and LAMB do not scale its learning rate by its
  /// norm.
  kNormOrBias,
};

/// The properties of a parameter. Code that handles parameters reads them and does not depend on the layer.
struct ParameterSpec {
  std::string name;                ///< name in torchvision: "layer1.0.conv1.weight"
  std::vector<std::int64_t> dims;  ///< dimensions in the order of files, such as (O,I,H,W)
  InitialValues initial;
  FileOrder file_order = FileOrder::kAsOnDevice;
  UpdateRule rule = UpdateRule::kOptimizer;
  ParameterRole role = ParameterRole::kWeight;
  /// Number of floats of each copy that an operation stores in its own layout; 0: no copy.
  std::int64_t packed_count = 0;
  /// Whether it is the last scale of a block, before the shortcut is added: starts at 0 with init.zero_residual.
  bool joins_shortcut = false;
  /// Only kMovingAverage: weight of a step's statistic in the new running statistic, whose old value has the rest.
  double momentum = 0.1;
  bool frozen = false;     ///< true: no update changes it
  double rate_factor = 1;  ///< factor of the learning rate

  std::int64_t count() const;
  bool is_trained() const { return !is_statistic() && !frozen; }
  bool is_statistic() const { return rule == UpdateRule::kMovingAverage; }
};

/// Copies the values of a parameter from their order in the device's memory to their order in files. Both spans hold
/// spec.count() values.
void to_file_order(const ParameterSpec& spec, std::span<const float> device, std::span<float> file);
/// Copies the values of a parameter from their order in files to their order in the device's memory. Both spans hold
/// spec.count() values.
void to_device_order(const ParameterSpec& spec, std::span<const float> file, std::span<float> device);

/// The part of a network's fingerprint (convoy/base/fingerprint.h) that values [first, first + device.size()) of a
/// parameter add to it. `first` counts in the order of the device's memory, in which `device` holds the values.
std::uint64_t fingerprint_part(const ParameterSpec& spec, std::int64_t first, std::span<const float> device);

/// The choice of initial values for a training.
struct InitialSpec {
  std::uint64_t seed = 0;
  /// Whether the last scale of each block starts at 0, so that every block begins as its shortcut (Goyal et al. 2017,
  /// section 5.1).
  bool zero_residual = false;
};

/// The initial values of a parameter, in the order of files. A value depends only on the seed, the parameter's name and
/// the value's index.
std::vector<float> initial_values(const ParameterSpec& spec, const InitialSpec& initial);

}  // namespace convoy
