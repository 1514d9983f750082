/// Batch normalisation on the CPU: a pass of sums, then a pass of results, both bound by memory.
/// Compiled without contraction to fused multiply-adds, so that backward finds the bits that forward's ReLU saw.
#include "convoy/ops/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/cpu/batch_norm_backward.h"
#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

/// The scratch memory of one call, cut up.
struct Scratch {
  ColumnSums sums;
  ColumnTotals totals;
  AffineRow affine;
  SlopeRow slopes;

  static std::int64_t size_bytes(const RowLayout& layout) {
    const std::int64_t doubles = 2 * layout.width, floats = 5 * layout.width + 2 * (layout.blocks + 1) * layout.width;
    return doubles * static_cast<std::int64_t>(sizeof(double)) + floats * static_cast<std::int64_t>(sizeof(float));
  }

  Scratch(std::byte* memory, const RowLayout& layout) {
    const std::int64_t width = layout.width;
    auto* doubles = reinterpret_cast<double*>(memory);
    totals = {doubles, doubles + width};
    auto* floats = reinterpret_cast<float*>(doubles + 2 * width);
    affine = {floats, floats + width, floats + 2 * width};
    slopes = {floats + 3 * width, floats + 4 * width};
    sums = {floats + 5 * width, floats + (layout.blocks + 6) * width};
  }
};

/// Makes sums that others have made once more: no convolution on the CPU has them.
template <typename T>
class CpuBatchNorm final : public BatchNormOp {
 public:
  CpuBatchNorm(const BatchNormSpec& spec, Workspace& workspace) : spec_(spec), layout_(spec.x), workspace_(workspace) {
    workspace_.reserve(Scratch::size_bytes(layout_));
  }

  void forward(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    const Scratch scratch(workspace_.scratch(), layout_);
    const T* x = values_at<T>(in.x);
#pragma omp parallel num_threads(workspace_.threads())
    {
      sum_my_blocks(x, layout_, scratch.sums);
#pragma omp barrier
      merge_my_tiles(x, layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        const Moments moments = merge_columns(x, layout_, c, scratch.totals);
        const auto count = static_cast<double>(layout_.pixels);
        out.mean[c] = static_cast<float>(moments.mean);
        out.inv_std[c] = inverse_deviation(moments.m2 / count);
        out.var_unbiased[c] = static_cast<float>(moments.m2 / std::max(1.0, count - 1.0));
        expand(c, {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]}, layout_, scratch.affine);
      }
#pragma omp barrier
      if (out.y != nullptr) normalise_mine({x, values_at<T>(in.residual), values_at<T>(out.y)}, scratch.affine);
    }
  }

  void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c)
        expand(c, {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]}, layout_, scratch.affine);
#pragma omp barrier
      normalise_mine({values_at<T>(in.x), values_at<T>(in.residual), values_at<T>(out.y)}, scratch.affine);
    }
  }

  void infer(const BatchNormInference& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        const float inv_std = inverse_deviation(static_cast<double>(args.running_var[c]));
        expand(c, {args.gamma[c], args.beta[c], args.running_mean[c], inv_std}, layout_, scratch.affine);
      }
#pragma omp barrier
      normalise_mine({values_at<T>(args.x), values_at<T>(args.residual), values_at<T>(args.y)}, scratch.affine);
    }
  }

  void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) override {
    if (spec_.relu && spec_.residual) {
      backward_as<Mask::kFromY, true>(in, out);
    } else if (spec_.relu) {
      backward_as<Mask::kFromX, false>(in, out);
    } else if (spec_.residual) {
      backward_as<Mask::kNone, true>(in, out);
    } else {
      backward_as<Mask::kNone, false>(in, out);
    }
  }

  void infer_backward(const BatchNormInferenceGrad& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
    const InferenceGradientArgs<T> rows{values_at<T>(args.dy), values_at<T>(args.y), values_at<T>(args.dresidual),
                                        values_at<T>(args.dx)};
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        const float inv_std = inverse_deviation(static_cast<double>(args.running_var[c]));
        expand(c, {args.gamma[c], 0, 0, inv_std}, layout_, scratch.affine);
      }
#pragma omp barrier
      if (spec_.relu && spec_.residual) {
        inference_gradients_of_my_rows<true, true>(rows, layout_, scratch.affine.scale);
      } else if (spec_.relu) {
        inference_gradients_of_my_rows<true, false>(rows, layout_, scratch.affine.scale);
      } else if (spec_.residual) {
        inference_gradients_of_my_rows<false, true>(rows, layout_, scratch.affine.scale);
      } else {
        inference_gradients_of_my_rows<false, false>(rows, layout_, scratch.affine.scale);
      }
    }
  }

 private:
  float inverse_deviation(double variance) const {
    return static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(spec_.epsilon)));
  }

  void normalise_mine(const NormaliseArgs<T>& args, const AffineRow& affine) const {
    if (spec_.relu && spec_.residual) {
      normalise_my_rows<true, true>(args, layout_, affine);
    } else if (spec_.relu) {
      normalise_my_rows<true, false>(args, layout_, affine);
    } else if (spec_.residual) {
      normalise_my_rows<false, true>(args, layout_, affine);
    } else {
      normalise_my_rows<false, false>(args, layout_, affine);
    }
  }

  template <Mask kMask, bool kResidual>
  void backward_as(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) {
    const Scratch scratch(workspace_.scratch(), layout_);
    const T *dy = values_at<T>(in.dy), *x = values_at<T>(in.x), *y = values_at<T>(in.y);
    T *dx = values_at<T>(out.dx), *dresidual = values_at<T>(out.dresidual);
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        expand(c, {in.gamma[c], in.beta[c], in.mean[c], in.inv_std[c]}, layout_, scratch.affine);
      }
#pragma omp barrier
      sum_my_gradients<kMask, kResidual, T>({dy, x, y, dresidual}, layout_, scratch.affine, scratch.sums);
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        finish_gradients(c, in.inv_std[c], out, scratch);
        out.mean[c] = in.mean[c];
        out.var_unbiased[c] = in.var_unbiased[c];
      }
#pragma omp barrier
      constexpr Mask kMaskOfG = kResidual ? Mask::kNone : kMask;  // dresidual is masked already
      const T* g = kResidual ? dresidual : dy;
      input_gradients_of_my_rows<kMaskOfG, T>({g, x, dx}, layout_, scratch.affine, scratch.slopes);
    }
  }

  /// dbeta = sum g;  dgamma = sum g * xhat;  and what dx needs of them.
  void finish_gradients(std::int64_t c, float inv_std, const BatchNormGradOutputs& out, const Scratch& scratch) const {
    const auto count = static_cast<double>(layout_.pixels), deviation = static_cast<double>(inv_std);
    double dbeta = 0, product = 0;
    for (std::int64_t i = c; i < layout_.width; i += layout_.channels) {
      dbeta += scratch.totals.first[i];
      product += scratch.totals.second[i];
    }
    const double dgamma = product * deviation;
    out.dbeta[c] = static_cast<float>(dbeta);
    out.dgamma[c] = static_cast<float>(dgamma);
    for (std::int64_t i = c; i < layout_.width; i += layout_.channels) {
      scratch.slopes.mean_g[i] = static_cast<float>(dbeta / count);
      scratch.slopes.slope[i] = static_cast<float>(deviation * dgamma / count);
    }
  }

  BatchNormSpec spec_;
  RowLayout layout_;
  Workspace& workspace_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_batch_norm(const BatchNormSpec& spec, Workspace& workspace) {
  return make_stored<CpuBatchNorm, BatchNormOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
