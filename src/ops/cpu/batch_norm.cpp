/// Batch normalisation on the CPU: a pass of sums, then a pass of results, both bound by memory.
/// Compiled without contraction to fused multiply-adds, so that backward computes the bits of forward's ReLU argument.
#include "convoy/ops/batch_norm.h"

#include <memory>

#include "ops/cpu/batch_norm_backward.h"
#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/batch_norm_steps.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/masked_gradient.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuBatchNorm final : public BatchNormOp {
 public:
  CpuBatchNorm(const BatchNormSpec& spec, Workspace& workspace) : spec_(spec), layout_(spec.x), workspace_(workspace) {
    workspace_.reserve(BatchNormScratch::size_bytes(layout_));
  }

  void forward(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    const BatchNormScratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      compute_statistics<T>(in, out, spec_.epsilon, layout_, scratch.sums, scratch.totals, scratch.affine);
#pragma omp barrier
      normalise_mine({.x = in.x, .residual = in.residual, .y = out.y}, out.mask, scratch.affine);
    }
  }

  void forward_again(const BatchNormInputs& in, const BatchNormOutputs& out) override {
    normalise_by({.x = in.x, .residual = in.residual, .y = out.y}, [&](std::int64_t c) -> ChannelAffine {
      return {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]};
    });
  }

  void infer(const BatchNormInference& args) override {
    normalise_by(args, [&](std::int64_t c) -> ChannelAffine { return running_affine(args, c, spec_.epsilon); });
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
    const BatchNormScratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.affine,
                         [&](std::int64_t c) -> ChannelAffine { return running_factor(args, c, spec_.epsilon); });
#pragma omp barrier
      with_flags([&]<bool kRelu, bool kResidual>() {
        with_gradients<T>(args.dy, args.dy_addend, [&](const auto& dy) {
          inference_gradients_of_my_rows<T, kRelu, kResidual>(dy, args, layout_, scratch.affine.scale);
        });
      });
    }
  }

 private:
  /// Calls body.template operator()<relu, residual>() with the flags of the spec.
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
    const BatchNormScratch scratch(workspace_.scratch(), layout_);
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
    const BatchNormScratch scratch(workspace_.scratch(), layout_);
    T* const to_g = values_at<T>(masked_gradient(spec_, in, out));
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.affine, [&](std::int64_t c) -> ChannelAffine {
        return {in.gamma[c], in.beta[c], in.mean[c], in.inv_std[c]};
      });
#pragma omp barrier
      sum_mine<kMask>(in, to_g, scratch);
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      finish_my_channels(in, out, layout_, scratch);
#pragma omp barrier
      const T* const g = to_g != nullptr ? to_g : values_at<T>(in.dy);
      input_gradients_of_my_rows<T, kMask == Mask::kFromX>(g, values_at<T>(in.x), values_at<T>(out.dx), layout_,
                                                           scratch.affine, scratch.slopes);
    }
  }

  // Without a residual, dy has no addend, and g need not be written: the second pass computes it from x again.
  template <Mask kMask>
  void sum_mine(const BatchNormGradInputs& in, T* to_g, const BatchNormScratch& scratch) const {
    const auto sum = [&]<bool kWritesG>(const auto& dy) {
      sum_my_gradients<T, kMask, kWritesG>(dy, in, to_g, layout_, scratch.affine, scratch.sums);
    };
    if constexpr (kMask == Mask::kFromX) {
      sum.template operator()<false>(StoredGradients<T>{values_at<T>(in.dy)});
    } else {
      with_gradients<T>(in.dy, in.dy_addend, [&](const auto& dy) {
        if (to_g != nullptr)
          sum.template operator()<true>(dy);
        else
          sum.template operator()<false>(dy);
      });
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
