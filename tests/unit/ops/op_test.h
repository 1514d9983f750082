/// The parts that tests of operations share: the backends on which they run, poisoned device arrays of any storage
/// type, and comparisons with the double reference under a bound that follows from the number of roundings.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/device/device.h"
#include "convoy/ops/backend.h"
#include "convoy/ops/engine_cache.h"
#include "convoy/ops/operations.h"

#include "reference/array.h"
#include "reference/storage.h"

namespace convoy {

using reference::absolute;
using reference::Array;
using reference::index;
using reference::random_array;
using reference::rounded;

inline constexpr double kRounding = 0x1p-24;  // largest relative error of one float32 operation

/// A device array with a guard after it: a write past the end destroys the guard.
class DeviceArray {
 public:
  /// Creates an array of NaNs, so that an element that is never written cannot pass.
  DeviceArray(ops::Backend& backend, std::int64_t count, DataType type = DataType::kFloat32)
      : backend_(backend),
        count_(count),
        type_(type),
        buffer_(backend.device(), (count + kGuardCount) * size_of(type)) {
    write(Array(index(count + kGuardCount), std::numeric_limits<double>::quiet_NaN()));
  }

  /// Creates an array of the values, rounded to the type.
  DeviceArray(ops::Backend& backend, const Array& values, DataType type = DataType::kFloat32)
      : DeviceArray(backend, std::ssize(values), type) {
    write(rounded(type, values));
  }

  DataType type() const { return type_; }
  std::byte* data() const { return buffer_.data(); }
  operator void*() const { return data(); }  // NOLINT(google-explicit-constructor): used as its pointer
  operator float*() const {                  // NOLINT(google-explicit-constructor)
    EXPECT_EQ(type_, DataType::kFloat32) << "handed over as float32";
    return buffer_.floats();
  }

  Array doubles() const {
    backend_.device().synchronize();
    std::vector<std::byte> bytes(index(buffer_.size_bytes()));
    backend_.device().copy_to_host(bytes.data(), buffer_.data(), buffer_.size_bytes());
    Array all(index(count_ + kGuardCount));
    for (std::size_t i = 0; i < all.size(); ++i) {
      std::uint32_t bits = 0;
      const auto size = index(size_of(type_));
      std::memcpy(&bits, bytes.data() + i * size, size);
      all[i] = reference::decoded(type_, bits);
    }
    for (std::int64_t i = count_; i < count_ + kGuardCount; ++i) {
      EXPECT_TRUE(std::isnan(all[index(i)])) << "written past the end, at " << i << " of " << count_;
    }
    all.resize(index(count_));
    return all;
  }

  /// The values as float32, exactly: float32 holds the values of all types.
  std::vector<float> values() const {
    const Array exact = doubles();
    return {exact.begin(), exact.end()};
  }

 private:
  static constexpr std::int64_t kGuardCount = 64;

  /// Overwrites values from the first one on. The type must represent them exactly.
  void write(const Array& values) {
    const auto size = index(size_of(type_));
    std::vector<std::byte> bytes(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint32_t bits = reference::encoded(type_, values[i]);
      std::memcpy(bytes.data() + i * size, &bits, size);
    }
    backend_.device().copy_to_device(buffer_.data(), bytes.data(), std::ssize(bytes));
  }

  ops::Backend& backend_;
  std::int64_t count_;
  DataType type_;
  Buffer buffer_;
};

/// The bits of the values, so that -0 differs from 0 and NaN equals itself.
inline std::vector<std::uint32_t> bits(const std::vector<float>& values) {
  std::vector<std::uint32_t> result;
  result.reserve(values.size());
  for (const float value : values) result.push_back(std::bit_cast<std::uint32_t>(value));
  return result;
}
inline std::vector<std::uint32_t> bits(const DeviceArray& array) {
  return bits(array.values());
}

/// Expects |got - want| <= tolerance, value by value, and shows the first failure. `tolerance` bounds the error in
/// float32: the error of a result that is stored in fewer bits may be larger by half a unit in its last place.
inline void expect_close(const std::string& name, const DeviceArray& got, const Array& want, const Array& tolerance) {
  const Array values = got.doubles();
  ASSERT_EQ(values.size(), want.size()) << name;
  for (std::size_t i = 0; i < want.size(); ++i) {
    double allowed = tolerance[i];
    if (got.type() != DataType::kFloat32) {
      allowed += reference::rounding_error(got.type(), std::abs(want[i]) + tolerance[i]);
    }
    ASSERT_LE(std::abs(values[i] - want[i]), allowed) << name << "[" << i << "] = " << values[i] << ", not " << want[i];
  }
}

/// The first-order bound of the error of a float32 sum of products. Every product passes through at most
/// `num_roundings` roundings, so |error| <= num_roundings * 2^-24 * sum |a b|. Wilkinson; Higham, Accuracy and
/// Stability, section 3.1.
inline Array rounding_bound(const Array& sum_of_absolutes, std::int64_t num_roundings) {
  Array bound = sum_of_absolutes;
  for (double& value : bound) value *= static_cast<double>(num_roundings) * kRounding;
  return bound;
}

/// A kind of backend on which each test runs: a device with its settings.
struct BackendKind {
  std::string name;
  std::unique_ptr<ops::Backend> (*make)();
  std::vector<DataType> types;  ///< types that it stores
  bool rounds_dw = false;       ///< whether a convolution's dw is rounded to the storage type before it is widened
  std::string why_absent = {};  ///< reason why make() would fail here; its tests are skipped with this message
};

/// The kinds of backends of this test program, which is linked with one of *_backends.cpp.
std::vector<BackendKind> backend_kinds();

/// The fixture of tests that run on every kind of backend.
class OpTest : public ::testing::TestWithParam<BackendKind> {
 protected:
  void SetUp() override {
    if (const std::string& reason = GetParam().why_absent; !reason.empty()) GTEST_SKIP() << reason;
    backend_ = GetParam().make();
  }

  /// Creates another backend of the same kind, with the engines that the first has measured: backends that measured for
  /// themselves could choose different engines, whose results differ in their last bits.
  std::unique_ptr<ops::Backend> another_backend() const {
    auto another = GetParam().make();
    if (another->engine_cache() != nullptr) *another->engine_cache() = *backend_->engine_cache();
    return another;
  }
  const std::vector<DataType>& types() const { return GetParam().types; }

  std::unique_ptr<ops::Backend> backend_;
};

inline std::string kind_name(const ::testing::TestParamInfo<BackendKind>& info) {
  return info.param.name;
}
inline void PrintTo(const BackendKind& kind, std::ostream* out) {  // NOLINT: GoogleTest looks for this name
  *out << kind.name;
}

}  // namespace convoy

/// Instantiates a fixture for every kind of backend.
#define CONVOY_RUN_ON_ALL_BACKENDS(Fixture) \
  INSTANTIATE_TEST_SUITE_P(On, Fixture, ::testing::ValuesIn(backend_kinds()), kind_name)
