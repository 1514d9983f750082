/// Convolutions that do the work of batch norms: they sum for the one after or before them, or normalise for the one
/// before; against double loops.
#pragma once

#include <algorithm>
#include <cmath>

#include "reference/convolution.h"
#include "unit/ops/op_test.h"

namespace convoy {

/// Of y as it is stored, or of what was rounded to it: that is off by half a unit of each value at most.
inline void expect_sums_of(const DeviceArray& y, const DeviceArray& sum, const DeviceArray& square_sum,
                           std::int64_t num_channels) {
  const auto channels = index(num_channels);
  const Array stored = y.doubles();
  Array sums(channels), squares(channels), sums_bound(channels), squares_bound(channels);
  // At most an addition for each pixel, and the rounding of a square.
  const double pixels = static_cast<double>(std::ssize(stored)) / static_cast<double>(num_channels);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const double magnitude = std::abs(stored[i]);
    const double error = y.type() == DataType::kFloat32 ? 0 : reference::rounding_error(y.type(), magnitude);
    const std::size_t c = i % channels;
    sums[c] += stored[i];
    squares[c] += stored[i] * stored[i];
    sums_bound[c] += error + pixels * kRounding * (magnitude + error);
    squares_bound[c] += (2 * magnitude + error) * error + (pixels + 1) * kRounding * std::pow(magnitude + error, 2);
  }
  expect_close("sum", sum, sums, sums_bound);
  expect_close("square_sum", square_sum, squares, squares_bound);
}

/// `run(w, x, y, sums)` is the pass under test, on device memory.
template <typename Run>
void expect_sums_of_output(ops::Backend& backend, const ops::ConvolutionSpec& spec, const Run& run) {
  const Array x = rounded(spec.type, random_array(spec.x.count(), 1)),
              w = rounded(spec.type, random_array(spec.weight_count(), 2));
  const DeviceArray device_x(backend, x, spec.type), device_w(backend, w, spec.type);
  const DeviceArray y(backend, spec.y().count(), spec.type);
  const DeviceArray sum(backend, spec.num_filters), square_sum(backend, spec.num_filters);
  run(device_w, device_x, y, ops::ChannelSums{sum, square_sum});

  expect_sums_of(y, sum, square_sum, spec.num_filters);
  expect_close(
      "y", y, reference::convolution(spec, x, w),
      rounding_bound(reference::convolution(spec, absolute(x), absolute(w)), spec.kernel * spec.kernel * spec.x.c));
}

/// A batch norm's forward, whose ReLU has arguments far from 0: no rounding moves one across the kink.
struct NormalisedValues {
  explicit NormalisedValues(const ops::ConvolutionSpec& spec)
      : a(rounded(spec.type, random_array(spec.x.count(), 6))),
        gamma(random_array(spec.x.c, 7, 1, 0.5)),
        beta(random_array(spec.x.c, 8, 0, 0.5)),
        mean(random_array(spec.x.c, 9, 0, 0.25)),
        inv_std(random_array(spec.x.c, 10, 1.5, 0.5)) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (std::abs(argument(i)) < 0.01) a[i] = 4;
  }

  double xhat(std::size_t i) const { return (a[i] - mean[i % mean.size()]) * inv_std[i % mean.size()]; }
  double argument(std::size_t i) const { return xhat(i) * gamma[i % mean.size()] + beta[i % mean.size()]; }

  Array a, gamma, beta, mean, inv_std;
};

/// Device memory of a batch norm's forward, as the next convolution is given it.
struct NormalisedDevice {
  NormalisedDevice(ops::Backend& backend, const NormalisedValues& values, DataType type)
      : a(backend, values.a, type),
        gamma(backend, values.gamma),
        beta(backend, values.beta),
        mean(backend, values.mean),
        inv_std(backend, values.inv_std) {}

  ops::NormalisedInput input() const { return {a, gamma, beta, mean, inv_std}; }

  DeviceArray a, gamma, beta, mean, inv_std;
};

/// `run(w, dy, in, out)` is the pass under test, on device memory.
template <typename Run>
void expect_sums_of_gradients(ops::Backend& backend, const ops::ConvolutionSpec& spec, const Run& run) {
  const std::size_t channels = index(spec.x.c);
  const NormalisedValues values(spec);
  const Array w = rounded(spec.type, random_array(spec.weight_count(), 2)),
              dy = rounded(spec.type, random_array(spec.y().count(), 3));
  const NormalisedDevice device(backend, values, spec.type);
  const DeviceArray device_w(backend, w, spec.type), device_dy(backend, dy, spec.type);
  const DeviceArray g(backend, spec.x.count(), spec.type), dgamma(backend, spec.x.c), dbeta(backend, spec.x.c);
  run(device_w, device_dy, device.input(), ops::NormalisedInputGradients{g, dgamma, dbeta});

  Array want = reference::convolution_input(spec, dy, w),
        bound = reference::convolution_input(spec, absolute(dy), absolute(w));
  bound = rounding_bound(bound, spec.kernel * spec.kernel * spec.num_filters);
  Array sums(channels), products(channels), sums_bound(channels), products_bound(channels);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (values.argument(i) <= 0) want[i] = bound[i] = 0;
    // Summed before g is rounded or after; then an addition per pixel, and 3 roundings of a product.
    const std::size_t c = i % channels;
    const double error = bound[i] + reference::rounding_error(spec.type, std::abs(want[i]) + bound[i]);
    const double roundings = kRounding * static_cast<double>(spec.x.pixels() + 3);
    sums[c] += want[i];
    products[c] += want[i] * values.xhat(i);
    sums_bound[c] += error + roundings * std::abs(want[i]);
    products_bound[c] += std::abs(values.xhat(i)) * (error + roundings * std::abs(want[i]));
  }
  expect_close("g", g, want, bound);
  expect_close("dbeta", dbeta, sums, sums_bound);
  expect_close("dgamma", dgamma, products, products_bound);
}

/// x = relu(scale * a + shift) of rows rounded to spec.type, and how far from it an engine's may be: three roundings of
/// float32 and the last one, to spec.type.
struct NormalisedOnTheWay {
  NormalisedOnTheWay(const ops::ConvolutionSpec& spec, const NormalisedValues& values)
      : x(values.a.size()), error(values.a.size()) {
    const std::size_t channels = values.gamma.size();
    Array scale(channels), shift(channels);
    for (std::size_t c = 0; c < channels; ++c)
      scale[c] = double{as_float(values.gamma[c]) * as_float(values.inv_std[c])};
    scale = rounded(spec.type, scale);
    for (std::size_t c = 0; c < channels; ++c)
      shift[c] = double{std::fma(-as_float(values.mean[c]), as_float(scale[c]), as_float(values.beta[c]))};
    shift = rounded(spec.type, shift);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double scaled = scale[i % channels] * values.a[i], argument = scaled + shift[i % channels];
      x[i] = std::max(0.0, argument);
      error[i] = 3 * kRounding * (std::abs(scaled) + std::abs(argument));
      if (x[i] > 0) error[i] += reference::rounding_error(spec.type, x[i] + error[i]);
    }
  }

  Array x, error;

 private:
  static float as_float(double value) { return static_cast<float>(value); }
};

inline Array sum_of(Array a, const Array& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

/// `run(w, in, y, sums)` is the pass under test, on device memory.
template <typename Run>
void expect_normalised_forward(ops::Backend& backend, const ops::ConvolutionSpec& spec, const Run& run) {
  const NormalisedValues values(spec);
  const NormalisedDevice device(backend, values, spec.type);
  const Array w = rounded(spec.type, random_array(spec.weight_count(), 2));
  const DeviceArray device_w(backend, w, spec.type), y(backend, spec.y().count(), spec.type);
  const DeviceArray sum(backend, spec.num_filters), square_sum(backend, spec.num_filters);
  run(device_w, device.input(), y, ops::ChannelSums{sum, square_sum});

  const NormalisedOnTheWay want(spec, values);
  expect_sums_of(y, sum, square_sum, spec.num_filters);
  expect_close(
      "y", y, reference::convolution(spec, want.x, w),
      sum_of(reference::convolution(spec, want.error, absolute(w)),
             rounding_bound(reference::convolution(spec, want.x, absolute(w)), spec.kernel * spec.kernel * spec.x.c)));
}

/// `run(in, dy, dw)` is the pass under test, on device memory; dw of `gradient_type`.
template <typename Run>
void expect_normalised_gradient(ops::Backend& backend, const ops::ConvolutionSpec& spec, DataType gradient_type,
                                const Run& run) {
  const NormalisedValues values(spec);
  const NormalisedDevice device(backend, values, spec.type);
  const Array dy = rounded(spec.type, random_array(spec.y().count(), 3));
  const DeviceArray device_dy(backend, dy, spec.type), dw(backend, spec.weight_count(), gradient_type);
  run(device.input(), device_dy, dw);

  const NormalisedOnTheWay want(spec, values);
  expect_close("dw", dw, reference::convolution_weight(spec, want.x, dy),
               sum_of(reference::convolution_weight(spec, want.error, absolute(dy)),
                      rounding_bound(reference::convolution_weight(spec, want.x, absolute(dy)), spec.y().pixels())));
}

}  // namespace convoy
