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
    kUniform,  ///< in (-size, size)
    kNormal,   ///< mean 0, standard deviation `size`
  };
  Kind kind = Kind::kConstant;
  double size = 0;  ///< kConstant: the value; kUniform, kNormal: see there
};

enum class FileOrder {
  kAsOnDevice,
  kChannelsBeforePixels,  ///< (O,I,H,W) in files, (O,H,W,I) on the device
};

enum class UpdateRule {
  kOptimizer,
  kMovingAverage,  ///< a running statistic: its "gradient" is the micro-batch's statistic
};

/// The role of a parameter, which decides how optimizers treat it.
enum class ParameterRole {
  kWeight,
  kEmbedding,   ///< a table whose rows are looked up: decays only with optimizer.decay_embeddings
  kNormOrBias,  ///< decays only with optimizer.decay_norms_and_biases; LARS and LAMB give it no rate of its own
};

/// The properties of a parameter. Code that handles parameters reads them and does not depend on the layer.
struct ParameterSpec {
  std::string name;                ///< as in torchvision: layer1.0.conv1.weight
  std::vector<std::int64_t> dims;  ///< as in files
  InitialValues initial;
  FileOrder file_order = FileOrder::kAsOnDevice;
  UpdateRule rule = UpdateRule::kOptimizer;
  ParameterRole role = ParameterRole::kWeight;
  std::int64_t packed_count = 0;  ///< floats of each copy that operations keep in their own layouts, if any
  bool joins_shortcut = false;    ///< starts at 0 with init.zero_residual: the scale before a block's shortcut is added
  bool frozen = false;            ///< no update ever changes it
  double rate_factor = 1;         ///< factor of its learning rate

  std::int64_t count() const;
  bool is_trained() const { return !is_statistic() && !frozen; }
  bool is_statistic() const { return rule == UpdateRule::kMovingAverage; }
};

/// Copy values from device order to file order and back; both spans hold spec.count() values.
void to_file_order(const ParameterSpec& spec, std::span<const float> device, std::span<float> file);
void to_device_order(const ParameterSpec& spec, std::span<const float> file, std::span<float> device);

/// The summand of values [first, first + device.size()) of a parameter, in device order, in a fingerprint
/// (convoy/base/fingerprint.h).
std::uint64_t fingerprint_part(const ParameterSpec& spec, std::int64_t first, std::span<const float> device);

/// The choice of initial values for a training.
struct InitialSpec {
  std::uint64_t seed = 0;
  /// Whether scales that join a shortcut start at 0: every block begins as its shortcut (Goyal et al. 2017, section
  /// 5.1).
  bool zero_residual = false;
};

/// The initial values of a parameter in file order. A value depends on (seed, name, index) only.
std::vector<float> initial_values(const ParameterSpec& spec, const InitialSpec& initial);

}  // namespace convoy
