/// The few functions of NVML that are called, as its documentation declares them.
#include "convoy/device/gpu_sensors.h"

#include <dlfcn.h>

namespace convoy {

namespace {

constexpr int kSuccess = 0;                      // NVML_SUCCESS
constexpr int kMultiprocessorClock = 1;          // NVML_CLOCK_SM
constexpr int kGpuTemperature = 0;               // NVML_TEMPERATURE_GPU
constexpr int kCorrected = 0, kUncorrected = 1;  // NVML_MEMORY_ERROR_TYPE_...
constexpr int kSinceDriverWasLoaded = 0;         // NVML_VOLATILE_ECC

using Gpu = void*;  // nvmlDevice_t

}  // namespace

struct GpuSensors::Library {
  struct Utilisation {  // nvmlUtilization_t
    unsigned gpu = 0, memory = 0;
  };

  void* handle = nullptr;
  Gpu gpu = nullptr;
  bool started = false;
  std::string missing;  // functions

  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*find)(const char* uuid, Gpu* gpu) = nullptr;
  int (*utilisation)(Gpu, Utilisation*) = nullptr;
  int (*clock)(Gpu, int type, unsigned* mhz) = nullptr;
  int (*temperature)(Gpu, int sensor, unsigned* celsius) = nullptr;
  int (*power)(Gpu, unsigned* milliwatts) = nullptr;
  int (*ecc_errors)(Gpu, int type, int counter, unsigned long long* count) = nullptr;

  template <typename Function>
  void look_up(const char* name, Function& function) {
    function = reinterpret_cast<Function>(dlsym(handle, name));
    if (function == nullptr) missing += std::string(missing.empty() ? "" : ", ") + name;
  }

  double ecc_errors_of(int type) const {
    unsigned long long count = 0;
    const bool knows = ecc_errors(gpu, type, kSinceDriverWasLoaded, &count) == kSuccess;
    return knows ? static_cast<double>(count) : GpuReading::kUnknown;
  }
};

GpuSensors::GpuSensors(const std::string& hardware_id, const std::string& library)
    : library_(std::make_unique<Library>()) {
  Library& nvml = *library_;
  nvml.handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (nvml.handle == nullptr) {
    const char* const reason = dlerror();
    why_absent_ = reason != nullptr ? reason : library + ": cannot be loaded";
    return;
  }
  nvml.look_up("nvmlInit_v2", nvml.init);
  nvml.look_up("nvmlShutdown", nvml.shutdown);
  nvml.look_up("nvmlDeviceGetHandleByUUID", nvml.find);
  nvml.look_up("nvmlDeviceGetUtilizationRates", nvml.utilisation);
  nvml.look_up("nvmlDeviceGetClockInfo", nvml.clock);
  nvml.look_up("nvmlDeviceGetTemperature", nvml.temperature);
  nvml.look_up("nvmlDeviceGetPowerUsage", nvml.power);
  nvml.look_up("nvmlDeviceGetTotalEccErrors", nvml.ecc_errors);
  if (!nvml.missing.empty()) {
    why_absent_ = library + ": has no " + nvml.missing;
    return;
  }
  int status = nvml.init();
  nvml.started = status == kSuccess;
  if (nvml.started) status = nvml.find(hardware_id.c_str(), &nvml.gpu);
  if (status != kSuccess) why_absent_ = library + ": status " + std::to_string(status) + " for GPU " + hardware_id;
}

GpuSensors::~GpuSensors() {
  if (library_->started) library_->shutdown();
  if (library_->handle != nullptr) dlclose(library_->handle);
}

GpuReading GpuSensors::read() const {
  GpuReading reading;
  if (!are_there()) return reading;
  const Library& nvml = *library_;
  Library::Utilisation utilisation;
  unsigned value = 0;
  if (nvml.utilisation(nvml.gpu, &utilisation) == kSuccess) reading.utilisation_percent = utilisation.gpu;
  if (nvml.clock(nvml.gpu, kMultiprocessorClock, &value) == kSuccess) reading.clock_mhz = value;
  if (nvml.temperature(nvml.gpu, kGpuTemperature, &value) == kSuccess) reading.temperature_celsius = value;
  if (nvml.power(nvml.gpu, &value) == kSuccess) reading.power_watts = 1e-3 * value;
  reading.ecc_errors = nvml.ecc_errors_of(kCorrected) + nvml.ecc_errors_of(kUncorrected);
  return reading;
}

}  // namespace convoy
