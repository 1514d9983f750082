/// Convolutions that sum as they go, for the batch norm behind them or before them, against double loops.
#pragma once

#include "reference/convolution.h"
#include "unit/ops/op_test.h"

namespace convoy {

/// `run(w, x, y, sums)` is the pass under test, on device memory.
template <typename Run>
void expect_sums_of_output(ops::Library& library, const ops::ConvolutionSpec& spec, const Run& run) {
  const Array x = rounded(spec.type, random_array(spec.x.count(), 1)),
              w = rounded(spec.type, random_array(spec.weight_count(), 2));
  const DeviceArray device_x(library, x, spec.type), device_w(library, w, spec.type);
  const DeviceArray y(library, spec.y().count(), spec.type);
  const DeviceArray sum(library, spec.num_filters), square_sum(library, spec.num_filters);
  run(device_w, device_x, y, ops::ChannelSums{sum, square_sum});

  const std::size_t channels = index(spec.num_filters);
  const Array stored = y.doubles();
  Array sums(channels), squares(channels), magnitudes(channels);
  for (std::size_t i = 0; i < stored.size(); ++i) {
    sums[i % channels] += stored[i];
    magnitudes[i % channels] += std::abs(stored[i]);
    squares[i % channels] += stored[i] * stored[i];
  }
  // At most an addition a pixel, and the rounding of a square.
  expect_close("sum", sum, sums, rounding_bound(magnitudes, spec.y().pixels()));
  expect_close("square_sum", square_sum, squares, rounding_bound(squares, spec.y().pixels() + 1));
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

/// `run(w, dy, in, out)` is the pass under test, on device memory.
template <typename Run>
void expect_sums_of_gradients(ops::Library& library, const ops::ConvolutionSpec& spec, const Run& run) {
  const std::size_t channels = index(spec.x.c);
  const NormalisedValues values(spec);
  const Array w = rounded(spec.type, random_array(spec.weight_count(), 2)),
              dy = rounded(spec.type, random_array(spec.y().count(), 3));
  const DeviceArray device_w(library, w, spec.type), device_dy(library, dy, spec.type), a(library, values.a, spec.type),
      gamma(library, values.gamma), beta(library, values.beta), mean(library, values.mean),
      inv_std(library, values.inv_std);
  const DeviceArray g(library, spec.x.count(), spec.type), dgamma(library, spec.x.c), dbeta(library, spec.x.c);
  run(device_w, device_dy, ops::NormalisedInput{a, gamma, beta, mean, inv_std},
      ops::NormalisedInputGradients{g, dgamma, dbeta});

  Array want = reference::convolution_input(spec, dy, w),
        bound = reference::convolution_input(spec, absolute(dy), absolute(w));
  bound = rounding_bound(bound, spec.kernel * spec.kernel * spec.num_filters);
  Array sums(channels), products(channels), sums_bound(channels), products_bound(channels);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (values.argument(i) <= 0) want[i] = bound[i] = 0;
    // Summed before g is rounded or after; then an addition a pixel, and 3 roundings of a product.
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

}  // namespace convoy
