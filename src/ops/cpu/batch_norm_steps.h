/// The steps of batch normalisation between its loops over the activation: the scratch memory that the loops share, and
/// the numbers per channel that are computed from statistics and sums.
#pragma once

#include <cstddef>
#include <cstdint>

#include "convoy/ops/batch_norm.h"

#include "ops/cpu/batch_norm_backward.h"
#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"

namespace convoy::ops::cpu {

namespace {

/// The parts of the scratch memory of one call of batch normalisation.
struct BatchNormScratch {
  ColumnSums<2> sums;
  ColumnTotals<2> totals;
  AffineRow affine;
  SlopeRow slopes;

  static std::int64_t size_bytes(const RowLayout& layout) {
    const std::int64_t doubles = 2 * layout.width, floats = 5 * layout.width + 2 * (layout.blocks + 1) * layout.width;
    return doubles * static_cast<std::int64_t>(sizeof(double)) + floats * static_cast<std::int64_t>(sizeof(float));
  }

  BatchNormScratch(std::byte* memory, const RowLayout& layout) {
    const std::int64_t width = layout.width;
    auto* doubles = reinterpret_cast<double*>(memory);
    totals = {doubles, doubles + width};
    auto* floats = reinterpret_cast<float*>(doubles + 2 * width);
    affine = {floats, floats + width, floats + 2 * width};
    slopes = {floats + 3 * width, floats + 4 * width};
    sums = {floats + 5 * width, floats + (layout.blocks + 6) * width};
  }
};

/// Returns the normalisation of channel c by the running statistics. `args` is a BatchNormInference, or a branch of a
/// BatchNormSumInference.
template <typename Inference>
ChannelAffine running_affine(const Inference& args, std::int64_t c, float epsilon) {
  return {args.gamma[c], args.beta[c], args.running_mean[c], inverse_stddev(double{args.running_var[c]}, epsilon)};
}

/// Returns the factor by which backward multiplies gradients of channel c if forward used the running statistics: gamma
/// * inv_std. Its mean and beta are 0.
template <typename InferenceGrad>
ChannelAffine running_factor(const InferenceGrad& args, std::int64_t c, float epsilon) {
  return {args.gamma[c], 0, 0, inverse_stddev(double{args.running_var[c]}, epsilon)};
}

/// Writes dbeta, dgamma and the "gradients" of the running statistics (the micro-batch's statistics) for the calling
/// thread's channels; and scratch.slopes for their columns.
inline void finish_my_channels(const BatchNormGradInputs& in, const BatchNormGradOutputs& out, const RowLayout& layout,
                               const BatchNormScratch& scratch) {
  const Range channels = my_part_of(layout.channels);
  for (std::int64_t c = channels.begin; c < channels.end; ++c) {
    out.dbeta[c] = finish_dbeta(layout, c, scratch.totals[0], scratch.slopes.mean_g);
    out.dgamma[c] = finish_dgamma(layout, c, scratch.totals[1], double{in.inv_std[c]}, scratch.slopes.slope);
    out.mean[c] = in.mean[c];
    out.var_unbiased[c] = in.var_unbiased[c];
  }
}

}  // namespace

}  // namespace convoy::ops::cpu
