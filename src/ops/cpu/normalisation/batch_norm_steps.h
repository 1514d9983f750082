/// The steps of batch normalisation between its loops over the activation: the scratch memory that the loops share, and
/// the numbers per channel that are computed from statistics and sums.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "convoy/ops/batch_norm.h"

#include "ops/cpu/normalisation/batch_norm_backward.h"
#include "ops/cpu/normalisation/batch_norm_forward.h"
#include "ops/cpu/normalisation/batch_norm_rows.h"

namespace convoy::ops::cpu {

namespace {

/// The parts of the scratch memory of one call of batch normalisation.
template <std::size_t kBranches>
struct BatchNormScratch {
  static constexpr std::size_t kSums = 1 + kBranches;  ///< of backward; the statistics of a branch need 2

  ColumnSums<kSums> sums;
  ColumnTotals<kSums> totals;
  AffineRows<kBranches> affines;
  SlopeRows<kBranches> slopes;

  static std::int64_t size_bytes(const RowLayout& layout) {
    const std::int64_t doubles = kSums * layout.width,
                       floats = (4 * kBranches + 1 + kSums * (layout.blocks + 1)) * layout.width;
    return doubles * static_cast<std::int64_t>(sizeof(double)) + floats * static_cast<std::int64_t>(sizeof(float));
  }

  BatchNormScratch(std::byte* memory, const RowLayout& layout) {
    auto* doubles = reinterpret_cast<double*>(memory);
    for (double*& total : totals) total = std::exchange(doubles, doubles + layout.width);
    auto* floats = reinterpret_cast<float*>(doubles);
    const auto next = [&](std::int64_t rows = 1) { return std::exchange(floats, floats + rows * layout.width); };
    for (AffineRow& affine : affines) affine = {next(), next(), next()};
    slopes.mean_g = next();
    for (float*& slope : slopes.slopes) slope = next();
    for (float*& sum : sums) sum = next(layout.blocks + 1);
  }
};

/// The normalisation of channel c of a branch by the statistics that forward wrote.
template <typename Branch>
ChannelAffine affine_of(const Branch& branch, std::int64_t c) {
  return {branch.gamma[c], branch.beta[c], branch.mean[c], branch.inv_std[c]};
}

/// The normalisation of channel c of a branch by the running statistics.
inline ChannelAffine running_affine(const BatchNormForward::Branch& branch, std::int64_t c, float epsilon) {
  return {branch.gamma[c], branch.beta[c], branch.running_mean[c],
          inverse_stddev(double{branch.running_var[c]}, epsilon)};
}

/// The factor by which backward multiplies gradients of channel c of a branch if forward used the running statistics:
/// gamma * inv_std. Its mean and beta are 0.
inline ChannelAffine running_factor(const BatchNormBackward::Branch& branch, std::int64_t c, float epsilon) {
  return {branch.gamma[c], 0, 0, inverse_stddev(double{branch.running_var[c]}, epsilon)};
}

/// Writes the ChannelAffine of_channel(branch, c) of each branch to all columns of channel c, for the calling thread's
/// channels.
template <std::size_t kBranches, typename Args, typename OfChannel>
void expand_my_branches(const Args& args, const RowLayout& layout, const AffineRows<kBranches>& to,
                        const OfChannel& of_channel) {
  for (std::size_t b = 0; b < kBranches; ++b)
    expand_my_channels(layout, to[b], [&](std::int64_t c) { return of_channel(args.branches[b], c); });
}

/// Writes dbeta, dgamma and the "gradients" of the running statistics (the micro-batch's statistics) for the calling
/// thread's channels; and scratch.slopes for their columns.
template <std::size_t kBranches>
void finish_my_channels(const BatchNormBackward& args, const RowLayout& layout,
                        const BatchNormScratch<kBranches>& scratch) {
  const Range channels = my_part_of(layout.channels);
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    const float dbeta = finish_dbeta(layout, c, scratch.totals[0], scratch.slopes.mean_g);
    for (std::size_t b = 0; b < kBranches; ++b) {
      const BatchNormBackward::Branch& branch = args.branches[b];
      branch.dbeta[c] = dbeta;
      branch.dgamma[c] =
          finish_dgamma(layout, c, scratch.totals[1 + b], double{branch.inv_std[c]}, scratch.slopes.slopes[b]);
      branch.drunning_mean[c] = branch.mean[c];
      branch.drunning_var[c] = branch.var_unbiased[c];
    }
  }
}

}  // namespace

}  // namespace convoy::ops::cpu
