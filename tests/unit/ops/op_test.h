/// What the tests of operations share: poisoned device arrays, and comparison with the double reference under a bound
/// that follows from the number of float32 roundings.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/ops/library.h"

#include "reference/array.h"

namespace convoy {

using reference::absolute;
using reference::Array;
using reference::index;
using reference::random_array;

inline constexpr double kRounding = 0x1p-24;  // largest relative error of one float32 operation

/// Device memory with a guard behind it, which writes past the end destroy.
class DeviceArray {
 public:
  /// Holds NaN everywhere, so that an element that is never written cannot pass.
  DeviceArray(ops::Library& library, std::int64_t count)
      : library_(library), count_(count), buffer_(library.device(), bytes(count + kGuardCount)) {
    const std::vector<float> poison(index(count + kGuardCount), std::numeric_limits<float>::quiet_NaN());
    library_.device().copy_to_device(buffer_.data(), poison.data(), buffer_.size_bytes());
  }

  DeviceArray(ops::Library& library, const Array& values)
      : DeviceArray(library, static_cast<std::int64_t>(values.size())) {
    const std::vector<float> floats(values.begin(), values.end());
    if (count_ > 0) library_.device().copy_to_device(buffer_.data(), floats.data(), bytes(count_));
  }

  float* data() const { return buffer_.floats(); }
  operator float*() const { return data(); }  // NOLINT(google-explicit-constructor): stands for its pointer

  std::vector<float> values() const {
    library_.device().synchronize();
    std::vector<float> all(index(count_ + kGuardCount));
    library_.device().copy_to_host(all.data(), buffer_.data(), buffer_.size_bytes());
    for (std::int64_t i = count_; i < count_ + kGuardCount; ++i) {
      EXPECT_TRUE(std::isnan(all[index(i)])) << "written past the end, at " << i << " of " << count_;
    }
    all.resize(index(count_));
    return all;
  }

  Array doubles() const {
    const std::vector<float> floats = values();
    return {floats.begin(), floats.end()};
  }

 private:
  static constexpr std::int64_t kGuardCount = 64;
  static std::int64_t bytes(std::int64_t count) { return count * static_cast<std::int64_t>(sizeof(float)); }

  ops::Library& library_;
  std::int64_t count_;
  Buffer buffer_;
};

/// The bits, so that -0 differs from 0 and NaN equals itself.
inline std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}
inline std::vector<std::uint32_t> bits(const DeviceArray& array) {
  return bits(array.values());
}

/// |got - want| <= tolerance, value by value; shows the first that is not.
inline void expect_close(const std::string& name, const DeviceArray& got, const Array& want, const Array& tolerance) {
  const Array values = got.doubles();
  ASSERT_EQ(values.size(), want.size()) << name;
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_LE(std::abs(values[i] - want[i]), tolerance[i])
        << name << "[" << i << "] = " << values[i] << ", not " << want[i];
  }
}

/// First-order bound of a float32 sum of products: every product passes through at most `num_roundings` roundings, so
/// |error| <= num_roundings * 2^-24 * sum |a b|. Wilkinson; Higham, Accuracy and Stability, section 3.1.
inline Array rounding_bound(const Array& sum_of_absolutes, std::int64_t num_roundings) {
  Array bound = sum_of_absolutes;
  for (double& value : bound) value *= static_cast<double>(num_roundings) * kRounding;
  return bound;
}

/// Every test runs with one thread and with two.
class OpTest : public ::testing::TestWithParam<std::int64_t> {
 protected:
  std::unique_ptr<ops::Library> library_ = ops::make_library({.device = DeviceKind::kCpu, .threads = GetParam()});
};

inline std::string threads_name(const ::testing::TestParamInfo<std::int64_t>& info) {
  return std::to_string(info.param) + (info.param == 1 ? "Thread" : "Threads");
}

}  // namespace convoy

/// Instantiates a fixture for one and for two threads.
#define CONVOY_RUN_WITH_ONE_AND_TWO_THREADS(Fixture) \
  INSTANTIATE_TEST_SUITE_P(Cpu, Fixture, ::testing::Values<std::int64_t>(1, 2), threads_name)
