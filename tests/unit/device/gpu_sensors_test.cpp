/// NVML is found when the program runs; otherwise the reason is given.
#include "convoy/device/gpu_sensors.h"

#include <cmath>

#include <gtest/gtest.h>

#include "unit/messages.h"

namespace convoy {

TEST(GpuSensors, ReadWhatTheLibrarySays) {
  const GpuSensors sensors("GPU-1", CONVOY_NVML_STAND_IN);
  ASSERT_TRUE(sensors.are_there()) << sensors.why_absent();
  const GpuReading reading = sensors.read();
  EXPECT_EQ(reading.utilisation_percent, 97);
  EXPECT_EQ(reading.clock_mhz, 1980);
  EXPECT_EQ(reading.temperature_celsius, 65);
  EXPECT_DOUBLE_EQ(reading.power_watts, 350.5);
  EXPECT_TRUE(std::isnan(reading.ecc_errors)) << "this GPU does not count them";
}

TEST(GpuSensors, AreAbsentWithoutTheLibraryAndSayWhy) {
  const GpuSensors sensors("GPU-1", "libno-such-library.so.1");
  EXPECT_FALSE(sensors.are_there());
  EXPECT_CONTAINS(sensors.why_absent(), "libno-such-library.so.1");
  EXPECT_TRUE(std::isnan(sensors.read().utilisation_percent));
}

TEST(GpuSensors, AreAbsentForAGpuThatTheLibraryDoesNotKnow) {
  const GpuSensors sensors("GPU-2", CONVOY_NVML_STAND_IN);
  EXPECT_FALSE(sensors.are_there());
  EXPECT_CONTAINS(sensors.why_absent(), "status 6 for GPU GPU-2");
}

TEST(GpuSensors, AreAbsentWhereTheLibraryIsAnotherOne) {
  EXPECT_CONTAINS(GpuSensors("GPU-1", "libm.so.6").why_absent(), "has no nvmlInit_v2");
}

}  // namespace convoy
