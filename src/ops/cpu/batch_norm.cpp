/// Batch normalisation on the CPU: a pass of sums, then a pass of results, both bound by memory.
/// Compiled without contraction to fused multiply-adds, so that backward finds the bits that forward's ReLU saw.
#include "convoy/ops/batch_norm.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/cpu/batch_norm_backward.h"
#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/masked_gradient.h"

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
      sum_my_deviations(x, layout_, scratch.sums);
#pragma omp barrier
      merge_my_tiles(x, layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      expand_my_channels(layout_, scratch.affine, [&](std::int64_t c) -> ChannelAffine {
        const Moments moments = merge_columns(x, layout_, c, scratch.totals);
        const auto count = static_cast<double>(layout_.pixels);
        out.mean[c] = static_cast<float>(moments.mean);
        out.inv_std[c] = inverse_stddev(moments.m2 / count);
        out.var_unbiased[c] = static_cast<float>(moments.m2 / std::max(1.0, count - 1.0));
        return {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]};
      });
#pragma omp barrier
      normalise_mine({.x = x, .residual = in.residual, .y = out.y}, out.mask, scratch.affine);
    }
  }

  void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    normalise_by({.x = in.x, .residual = in.residual, .y = out.y}, [&](std::int64_t c) -> ChannelAffine {
      return {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]};
    });
  }

  void infer(const BatchNormInference& args) override {
    normalise_by(args, [&](std::int64_t c) -> ChannelAffine {
      const float inv_std = inverse_stddev(static_cast<double>(args.running_var[c]));
      return {args.gamma[c], args.beta[c], args.running_mean[c], inv_std};
    });
  }

  void backward(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) override {
    if (!spec_.relu) {
      backward_as<Mask::kNone>(in, out);
    } else if (spec_.residual) {
      backward_as<Mask::kFromForward>(in, out);
    } else {
      backward_as<Mask::kFromX>(in, out);
    }
  }

  void infer_backward(const BatchNormInferenceGrad& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.affine, [&](std::int64_t c) -> ChannelAffine {
        return {args.gamma[c], 0, 0, inverse_stddev(static_cast<double>(args.running_var[c]))};
      });
#pragma omp barrier
      with_flags([&]<bool kRelu, bool kResidual>() {
        inference_gradients_of_my_rows<T, kRelu, kResidual>(args, layout_, scratch.affine.scale);
      });
    }
  }

 private:
  float inverse_stddev(double variance) const {
    return static_cast<float>(1.0 / std::sqrt(variance + static_cast<double>(spec_.epsilon)));
  }

  /// body.template operator()<relu, residual>(), as the spec has them.
  template <typename Body>
  void with_flags(const Body& body) const {
    if (spec_.relu && spec_.residual) {
      body.template operator()<true, true>();
    } else if (spec_.relu) {
      body.template operator()<true, false>();
    } else if (spec_.residual) {
      body.template operator()<false, true>();
    } else {
      body.template operator()<false, false>();
    }
  }

  template <typename OfChannel>
  void normalise_by(const BatchNormInference& args, const OfChannel& of_channel) const {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.affine, of_channel);
#pragma omp barrier
      normalise_mine(args, nullptr, scratch.affine);
    }
  }

  void normalise_mine(const BatchNormInference& args, std::uint8_t* mask, const AffineRow& affine) const {
    if (mask != nullptr && spec_.relu && spec_.residual)
      return normalise_my_rows<T, true, true, true>(args, mask, layout_, affine);
    with_flags([&]<bool kRelu, bool kResidual>() {
      normalise_my_rows<T, kRelu, kResidual, false>(args, nullptr, layout_, affine);
    });
  }

  template <Mask kMask>
  void backward_as(const BatchNormGradInputs& in, const BatchNormGradOutputs& out) {
    const Scratch scratch(workspace_.scratch(), layout_);
    void* const to_g = masked_gradient(spec_, in, out);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.affine, [&](std::int64_t c) -> ChannelAffine {
        return {in.gamma[c], in.beta[c], in.mean[c], in.inv_std[c]};
      });
#pragma omp barrier
      sum_my_gradients<T, kMask>(in, to_g, layout_, scratch.affine, scratch.sums);
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        finish_gradients(c, in.inv_std[c], out, scratch);
        out.mean[c] = in.mean[c];
        out.var_unbiased[c] = in.var_unbiased[c];
      }
#pragma omp barrier
      const void* const g = to_g != nullptr ? to_g : in.dy;
      input_gradients_of_my_rows<T, kMask == Mask::kFromX>(values_at<T>(g), values_at<T>(in.x), values_at<T>(out.dx),
                                                           layout_, scratch.affine, scratch.slopes);
    }
  }

  /// dbeta = sum g;  dgamma = sum g * xhat;  and what dx needs of them.
  void finish_gradients(std::int64_t c, float inv_std, const BatchNormGradOutputs& out, const Scratch& scratch) const {
    const auto count = static_cast<double>(layout_.pixels), inv_std_double = static_cast<double>(inv_std);
    double dbeta = 0, product = 0;
    for (std::int64_t i = c; i < layout_.width; i += layout_.channels) {
      dbeta += scratch.totals.first[i];
      product += scratch.totals.second[i];
    }
    const double dgamma = product * inv_std_double;
    out.dbeta[c] = static_cast<float>(dbeta);
    out.dgamma[c] = static_cast<float>(dgamma);
    for (std::int64_t i = c; i < layout_.width; i += layout_.channels) {
      scratch.slopes.mean_g[i] = static_cast<float>(dbeta / count);
      scratch.slopes.slope[i] = static_cast<float>(inv_std_double * dgamma / count);
    }
  }

  BatchNormSpec spec_;
  RowLayout layout_;
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<BatchNormOp> make_op(const BatchNormSpec& spec, const Resources& resources) {
  return make_stored<CpuBatchNorm, BatchNormOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
