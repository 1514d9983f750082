/// Reads the sensors of a GPU with NVIDIA's management library (NVML): utilisation, clock, temperature, power, memory
/// errors.
#pragma once

#include <limits>
#include <memory>
#include <string>

namespace convoy {

/// One reading of a GPU; a value is NaN if the GPU does not report it.
struct GpuReading {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  /// Share of NVML's last sampling period (a second or less) in which a kernel ran.
  double utilisation_percent = kUnknown;
  double clock_mhz = kUnknown;  ///< clock of the multiprocessors (SM)
  double temperature_celsius = kUnknown;
  double power_watts = kUnknown;
  double ecc_errors = kUnknown;  ///< number of corrected and uncorrected memory errors since the driver was loaded
};

/// The sensors of one GPU. NVML is loaded when the program runs: neither building nor running Convoy requires it.
class GpuSensors {
 public:
  /// Opens the sensors of the GPU with this identifier (Device::hardware_id()). Does not throw: if the library or the
  /// GPU is missing, read() returns NaN for all values.
  explicit GpuSensors(const std::string& hardware_id, const std::string& library = "libnvidia-ml.so.1");
  ~GpuSensors();
  GpuSensors(const GpuSensors&) = delete;
  GpuSensors& operator=(const GpuSensors&) = delete;

  bool are_there() const { return why_absent_.empty(); }
  /// The reason why the sensors are missing, "libnvidia-ml.so.1: cannot open shared object file: ..."; empty if they
  /// are present.
  const std::string& why_absent() const { return why_absent_; }
  /// Reads all sensors, which takes a few milliseconds at most.
  GpuReading read() const;

 private:
  struct Library;

  std::unique_ptr<Library> library_;
  std::string why_absent_;
};

}  // namespace convoy
