/// What a layer asks to have stored: trained parameters, and the running statistics that travel with them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace convoy {

enum class ParameterKind {
  kConvolutionWeight,  ///< (O,I,H,W) in files, (O,H,W,I) on the device
  kLinearWeight,       ///< (O,I)
  kLinearBias,         ///< (O)
  kScale,              ///< batch norm's gamma (C)
  kShift,              ///< batch norm's beta (C)
  kRunningMean,        ///< (C) a statistic: its "gradient" is the micro-batch's mean, its update a moving average
  kRunningVariance,    ///< (C) likewise
};

struct ParameterSpec {
  std::string name;  ///< torchvision's: layer1.0.conv1.weight
  ParameterKind kind = ParameterKind::kScale;
  std::vector<std::int64_t> dims;  ///< as in files
  std::int64_t fan_in = 0;         ///< inputs of one output; bounds the initial values of linear layers
  bool frozen = false;             ///< no update ever changes it
  bool joins_shortcut = false;     ///< of the batch norm behind which a block's shortcut is added

  std::int64_t count() const;
  bool is_trained() const { return !is_statistic() && !frozen; }
  bool is_statistic() const { return kind == ParameterKind::kRunningMean || kind == ParameterKind::kRunningVariance; }
};

/// Device order to file order and back; both hold spec.count() values.
void to_file_order(const ParameterSpec& spec, std::span<const float> device, std::span<float> file);
void to_device_order(const ParameterSpec& spec, std::span<const float> file, std::span<float> device);

/// Where training starts.
struct InitialSpec {
  std::uint64_t seed = 0;
  /// Scales that join a shortcut start at 0: every block begins as its shortcut (Goyal et al. 2017, section 5.1).
  bool zero_residual = false;
};

/// Initial values in file order: convolutions normal with variance 2 / (O H W) (He et al. 2015, "Delving deep",
/// fan-out), linear layers uniform within 1 / sqrt(fan-in), scales 1, shifts 0, statistics 0 and 1. A value depends on
/// (seed, name, place).
std::vector<float> initial_values(const ParameterSpec& spec, const InitialSpec& initial);

}  // namespace convoy
