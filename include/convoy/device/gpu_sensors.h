/// What NVIDIA's management library (NVML) tells of a GPU: how busy, how fast, how warm.
#pragma once

#include <limits>
#include <memory>
#include <string>

namespace convoy {

/// Not a number: the GPU does not say.
struct GpuReading {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  double utilisation_percent = kUnknown;  ///< of the time, of the last second or less
  double clock_mhz = kUnknown;            ///< of its multiprocessors
  double temperature_celsius = kUnknown;
  double power_watts = kUnknown;
  double ecc_errors = kUnknown;  ///< corrected and not, since the driver was loaded
};

/// The library is looked for when the program runs: neither to build nor to run needs it.
class GpuSensors {
 public:
  /// Of the GPU with this Device::hardware_id(). Does not throw: without the library or the GPU nothing is read.
  explicit GpuSensors(const std::string& hardware_id, const std::string& library = "libnvidia-ml.so.1");
  ~GpuSensors();
  GpuSensors(const GpuSensors&) = delete;
  GpuSensors& operator=(const GpuSensors&) = delete;

  bool are_there() const { return why_absent_.empty(); }
  /// "libnvidia-ml.so.1: cannot open shared object file: ..."; empty where they are there.
  const std::string& why_absent() const { return why_absent_; }
  /// Takes a few milliseconds at most.
  GpuReading read() const;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
  std::string why_absent_;
};

}  // namespace convoy
