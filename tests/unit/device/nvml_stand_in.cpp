/// A library with the functions of NVML that are called, and one GPU that always gives the same values.
#include <cstring>

// The names are those of the library.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

int nvmlInit_v2() {
  return 0;
}
int nvmlShutdown() {
  return 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** gpu) {
  static int only = 0;
  *gpu = &only;
  return std::strcmp(uuid, "GPU-1") == 0 ? 0 : 6;  // NVML_ERROR_NOT_FOUND
}
int nvmlDeviceGetUtilizationRates(void*, unsigned* rates) {
  rates[0] = 97;  // of the multiprocessors
  rates[1] = 30;  // of the memory
  return 0;
}
int nvmlDeviceGetClockInfo(void*, int type, unsigned* mhz) {
  *mhz = type == 1 ? 1980 : 0;  // NVML_CLOCK_SM
  return 0;
}
int nvmlDeviceGetTemperature(void*, int, unsigned* celsius) {
  *celsius = 65;
  return 0;
}
int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 350500;
  return 0;
}
int nvmlDeviceGetTotalEccErrors(void*, int, int, unsigned long long*) {
  return 3;  // NVML_ERROR_NOT_SUPPORTED
}
}
// NOLINTEND(readability-identifier-naming)
