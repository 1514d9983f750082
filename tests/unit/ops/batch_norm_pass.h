/// Forward and backward of a batch norm with one branch or two on values of a test's choice, and the bounds of their
/// errors against double loops.
#pragma once

#include <cmath>
#include <utility>
#include <vector>

#include "reference/batch_norm.h"
#include "unit/ops/device_bytes.h"
#include "unit/ops/op_test.h"

namespace convoy {

using ops::BatchNormSpec;

/// The inputs of a batch norm: x in [center - radius, center + radius], stored in `type`.
struct BatchNormValues {
  explicit BatchNormValues(const Shape& shape, DataType storage = DataType::kFloat32, double center = 0.5,
                           double half_width = 1)
      : type(storage),
        radius(half_width + reference::rounding_error(type, std::abs(center) + half_width)),
        x(rounded(type, random_array(shape.count(), 1, center, half_width))),
        residual(rounded(type, random_array(shape.count(), 2))),
        gamma(random_array(shape.c, 3, 1, 0.5)),
        beta(random_array(shape.c, 4, 0, 0.5)),
        dy(rounded(type, random_array(shape.count(), 5))) {}

  DataType type;
  double radius;
  Array x, residual, gamma, beta, dy;
};

/// The sum of two parts, rounded to the storage type.
inline Array sum_of_parts(DataType type, const Array& a, const Array& b) {
  Array sum(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    sum[i] = rounded(type, static_cast<double>(static_cast<float>(a[i] + b[i])));
  return sum;
}

/// The largest number of float32 additions that a value passes through. On the CPU: 3 in a group of 8 rows, 128 / 8
/// groups in a block, and one in reserve. On a GPU: those of a thread, at most 12 rows at these sizes. All other
/// additions are in double.
inline constexpr double kAdditions = 20;

/// The bound of |float32 mean - mean|: values minus their shift are at most 2 radius; then the mean is rounded. On a
/// GPU, the means of the blocks, which are at most a radius from it, are rounded before.
inline double mean_tolerance(const BatchNormValues& values, double mean) {
  return kRounding * (kAdditions * 2 * values.radius + 2 * std::abs(mean) + values.radius);
}

/// The bound of the relative error of inv_std: half of that of the variance, which sums squares of at most (2 radius)^2
/// + var, with the roundings of subtraction, square and result.
inline double inv_std_tolerance(const BatchNormValues& values, double inv_std) {
  return kRounding * (0.5 * (kAdditions + 3) * (1 + std::pow(2 * values.radius * inv_std, 2)) + 1);
}

/// The bound of the error of value i of (x - mean) * (gamma * inv_std) + beta, also as a term of one more sum: errors
/// of mean and inv_std, and a rounding per operation.
inline double normalised_tolerance(const BatchNormValues& values, const reference::BatchNormResult& want,
                                   std::size_t i) {
  const std::size_t c = i % want.mean.size();
  const double slope = std::abs(values.gamma[c]) * want.inv_std[c],
               scaled = slope * std::abs(values.x[i] - want.mean[c]);
  return slope * mean_tolerance(values, want.mean[c]) +
         scaled * (inv_std_tolerance(values, want.inv_std[c]) + 5 * kRounding) +
         2 * kRounding * std::abs(values.beta[c]);
}

/// The bound of the error of y, including the residual.
inline Array result_bound(const BatchNormValues& values, const reference::BatchNormResult& want) {
  Array bound(values.x.size());
  for (std::size_t i = 0; i < bound.size(); ++i)
    bound[i] = normalised_tolerance(values, want, i) + 2 * kRounding * std::abs(values.residual[i]);
  return bound;
}

inline void expect_statistics(const BatchNormValues& values, const reference::BatchNormResult& want,
                              const DeviceArray& mean, const DeviceArray& inv_std, const DeviceArray& var_unbiased) {
  const std::size_t channels = want.mean.size();
  Array mean_bound(channels), inv_std_bound(channels), var_bound(channels);
  for (std::size_t c = 0; c < channels; ++c) {
    mean_bound[c] = mean_tolerance(values, want.mean[c]);
    inv_std_bound[c] = inv_std_tolerance(values, want.inv_std[c]) * want.inv_std[c];
    // The bound of the variance, relative to var + epsilon, which 1 / inv_std^2 is.
    var_bound[c] =
        2 * inv_std_tolerance(values, want.inv_std[c]) * (want.var_unbiased[c] + 1 / std::pow(want.inv_std[c], 2));
  }
  expect_close("mean", mean, want.mean, mean_bound);
  expect_close("inv_std", inv_std, want.inv_std, inv_std_bound);
  expect_close("var_unbiased", var_unbiased, want.var_unbiased, var_bound);
}

inline void expect_forward(const BatchNormSpec& spec, const BatchNormValues& values, const DeviceArray& y,
                           const DeviceArray& mean, const DeviceArray& inv_std, const DeviceArray& var_unbiased) {
  const auto want = reference::batch_norm(spec, values.x, values.residual, values.gamma, values.beta);
  expect_statistics(values, want, mean, inv_std, var_unbiased);
  expect_close("y", y, want.y, result_bound(values, want));
}

/// Compares backward with the reference, which is given the device's own mean, inv_std and y: otherwise one ULP of the
/// mean may move a value across the ReLU's kink.
inline void expect_backward(const BatchNormSpec& spec, const BatchNormValues& values, const Array& y, const Array& mean,
                            const Array& inv_std, const DeviceArray& dx, const DeviceArray* dresidual,
                            const DeviceArray& dgamma, const DeviceArray& dbeta) {
  const auto want = reference::batch_norm_gradient(spec, values.x, values.gamma, {{}, mean, inv_std, {}, y}, values.dy);
  const auto count = static_cast<double>(spec.x.pixels());
  const std::size_t channels = mean.size();
  // 4 roundings of g * (x - mean) and inv_std, in addition to the additions.
  const Array dgamma_bound = rounding_bound(want.scale_of_dgamma, static_cast<std::int64_t>(kAdditions) + 4);
  const Array dbeta_bound = rounding_bound(want.scale_of_dbeta, static_cast<std::int64_t>(kAdditions) + 1);
  Array dx_bound(values.x.size());
  for (std::size_t i = 0; i < values.x.size(); ++i) {
    const std::size_t c = i % channels;
    const double xhat = std::abs((values.x[i] - mean[c]) * inv_std[c]);
    const double terms =
        std::abs(want.dresidual[i]) + std::abs(want.dbeta[c]) / count + xhat * std::abs(want.dgamma[c]) / count;
    dx_bound[i] = std::abs(values.gamma[c]) * inv_std[c] *
                  (8 * kRounding * terms + (dbeta_bound[c] + xhat * dgamma_bound[c]) / count);
  }
  expect_close("dgamma", dgamma, want.dgamma, dgamma_bound);
  expect_close("dbeta", dbeta, want.dbeta, dbeta_bound);
  expect_close("dx", dx, want.dx, dx_bound);
  if (dresidual != nullptr) expect_close("dresidual", *dresidual, want.dresidual, Array(values.x.size()));  // copied
}

/// The arrays of one branch: its inputs, and poisoned memory for its results.
struct BatchNormArrays {
  BatchNormArrays(ops::Backend& backend, const BatchNormValues& values)
      : x(backend, values.x, values.type),
        gamma(backend, values.gamma),
        beta(backend, values.beta),
        mean(backend, std::ssize(values.gamma)),
        inv_std(backend, std::ssize(values.gamma)),
        var_unbiased(backend, std::ssize(values.gamma)),
        dx(backend, std::ssize(values.x), values.type),
        dgamma(backend, std::ssize(values.gamma)),
        dbeta(backend, std::ssize(values.gamma)),
        mean_copy(backend, std::ssize(values.gamma)),
        var_copy(backend, std::ssize(values.gamma)) {}

  ops::BatchNormForward::Branch forward_branch() const {
    return {.x = x, .gamma = gamma, .beta = beta, .mean = mean, .inv_std = inv_std, .var_unbiased = var_unbiased};
  }
  ops::BatchNormBackward::Branch backward_branch(void* to_dx) const {
    return {.x = x,
            .gamma = gamma,
            .beta = beta,
            .mean = mean,
            .inv_std = inv_std,
            .var_unbiased = var_unbiased,
            .dx = to_dx,
            .dgamma = dgamma,
            .dbeta = dbeta,
            .drunning_mean = mean_copy,
            .drunning_var = var_copy};
  }
  std::vector<std::vector<std::uint32_t>> statistic_bits() const {
    return {bits(mean), bits(inv_std), bits(var_unbiased)};
  }
  std::vector<std::vector<std::uint32_t>> gradient_bits(const DeviceArray& got_dx) const {
    return {bits(got_dx), bits(dgamma), bits(dbeta), bits(mean_copy), bits(var_copy)};
  }

  DeviceArray x, gamma, beta, mean, inv_std, var_unbiased;
  DeviceArray dx, dgamma, dbeta, mean_copy, var_copy;
};

/// Forward and backward of one operation with one branch on fresh, poisoned memory.
struct BatchNormPass : BatchNormArrays {
  BatchNormPass(ops::Backend& backend, BatchNormSpec spec, const BatchNormValues& values)
      : BatchNormArrays(backend, values),
        residual(backend, values.residual, values.type),
        dy(backend, values.dy, values.type),
        y(backend, spec.x.count(), values.type),
        mask(backend, ops::relu_mask_bytes(spec.x, values.type)),
        dresidual(backend, spec.x.count(), values.type),
        joins(spec.residual) {
    spec.type = values.type;
    op = backend.create<ops::BatchNormOp>(spec);
    forward();
  }

  void forward() {
    op->forward(
        {.branches = {forward_branch()}, .residual = joins ? residual.data() : nullptr, .y = y, .mask = mask.data()});
  }
  void backward() { backward_to(dx, joins ? dresidual.data() : nullptr); }
  void backward_to(void* to_dx, void* to_dresidual, const void* dy_addend = nullptr) {
    op->backward({.branches = {backward_branch(to_dx)},
                  .dy = dy,
                  .dy_addend = dy_addend,
                  .mask = mask.data(),
                  .dresidual = to_dresidual});
  }

  std::vector<std::vector<std::uint32_t>> result_bits() const {
    std::vector<std::vector<std::uint32_t>> all = statistic_bits();
    for (auto& gradient : gradient_bits(dx)) all.push_back(std::move(gradient));
    all.push_back(bits(y));
    all.push_back(bits(dresidual));
    return all;
  }

  DeviceArray residual, dy, y;
  DeviceBytes mask;
  DeviceArray dresidual;
  bool joins;
  std::unique_ptr<ops::BatchNormOp> op;
};

}  // namespace convoy
