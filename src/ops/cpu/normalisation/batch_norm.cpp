/// Batch normalisation on the CPU: a pass of sums for each branch, then a pass of results, which reads only once what
/// the branches have in common. All passes are bound by memory.
/// Compiled without contraction to fused multiply-adds, so that backward computes the bits of forward's ReLU argument.
#include "convoy/ops/batch_norm.h"

#include <memory>

#include "ops/cpu/normalisation/batch_norm_backward.h"
#include "ops/cpu/normalisation/batch_norm_forward.h"
#include "ops/cpu/normalisation/batch_norm_pooling.h"
#include "ops/cpu/normalisation/batch_norm_rows.h"
#include "ops/cpu/normalisation/batch_norm_steps.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/masked_gradient.h"

namespace convoy::ops::cpu {

namespace {

template <typename T, std::size_t kBranches>
class CpuBatchNorm final : public BatchNormOp {
 public:
  CpuBatchNorm(const BatchNormSpec& spec, Workspace& workspace) : spec_(spec), layout_(spec.x), workspace_(workspace) {
    workspace_.reserve(Scratch::size_bytes(layout_));
  }

  void forward(const BatchNormForward& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      for (std::size_t b = 0; b < kBranches; ++b)
        compute_statistics<T>(args.branches[b], spec_.epsilon, layout_, {scratch.sums[0], scratch.sums[1]},
                              {scratch.totals[0], scratch.totals[1]}, scratch.affines[b]);
#pragma omp barrier
      if (spec_.stores_mask())
        normalise_my_rows<T, kBranches, true, kBranches == 1, true>(args, layout_, scratch.affines);
      else
        normalise_mine(args, scratch.affines);
    }
  }

  void forward_again(const BatchNormForward& args) override {
    normalise_by(args, affine_of<BatchNormForward::Branch>);
  }

  void infer(const BatchNormForward& args) override {
    normalise_by(args, [&](const auto& branch, std::int64_t c) { return running_affine(branch, c, spec_.epsilon); });
  }

  void backward(const BatchNormBackward& args) override {
    if constexpr (kBranches > 1) {
      backward_as<Mask::kFromForward, Mask::kFromForward>(args);
    } else if (!spec_.relu) {
      backward_as<Mask::kNone, Mask::kNone>(args);
    } else if (spec_.residual) {
      backward_as<Mask::kFromForward, Mask::kNone>(args);
    } else {
      backward_as<Mask::kFromX, Mask::kFromX>(args);
    }
  }

  void infer_backward(const BatchNormBackward& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines,
                         [&](const auto& branch, std::int64_t c) { return running_factor(branch, c, spec_.epsilon); });
#pragma omp barrier
      with_flags([&]<bool kRelu, bool kResidual>() {
        with_gradients<T>(args.dy, args.dy_addend, [&](const auto& dy) {
          inference_gradients_of_my_rows<T, kBranches, kRelu, kResidual>(dy, args, layout_, scratch.affines);
        });
      });
    }
  }

 private:
  using Scratch = BatchNormScratch<kBranches>;

  /// Calls body.template operator()<relu, residual>() with the flags of the spec.
  template <typename Body>
  void with_flags(const Body& body) const {
    if constexpr (kBranches > 1) {
      body.template operator()<true, false>();
    } else {
      if (spec_.relu && spec_.residual)
        body.template operator()<true, true>();
      else if (spec_.relu)
        body.template operator()<true, false>();
      else if (spec_.residual)
        body.template operator()<false, true>();
      else
        body.template operator()<false, false>();
    }
  }

  template <typename OfChannel>
  void normalise_by(const BatchNormForward& args, const OfChannel& of_channel) const {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines, of_channel);
#pragma omp barrier
      normalise_mine(args, scratch.affines);
    }
  }

  void normalise_mine(const BatchNormForward& args, const AffineRows<kBranches>& affines) const {
    with_flags([&]<bool kRelu, bool kResidual>() {
      normalise_my_rows<T, kBranches, kRelu, kResidual, false>(args, layout_, affines);
    });
  }

  /// kMask is the mask of the pass of sums. kMaskOfResults is that of the pass that writes dx: kNone if the first pass
  /// has written g.
  template <Mask kMask, Mask kMaskOfResults>
  void backward_as(const BatchNormBackward& args) {
    const Scratch scratch(workspace_.scratch(), layout_);
    T* const to_g = values_at<T>(masked_gradient(spec_, args));
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines, affine_of<BatchNormBackward::Branch>);
#pragma omp barrier
      sum_mine<kMask>(args, to_g, scratch);
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      finish_my_channels(args, layout_, scratch);
#pragma omp barrier
      input_gradients_of_my_rows<T, kBranches, kMaskOfResults>(to_g != nullptr ? to_g : values_at<T>(args.dy), args,
                                                               layout_, scratch.affines, scratch.slopes);
    }
  }

  // With kFromX, dy has no addend, and g need not be written: the second pass computes it from x again.
  template <Mask kMask>
  void sum_mine(const BatchNormBackward& args, T* to_g, const Scratch& scratch) const {
    const auto sum = [&]<bool kWritesG>(const auto& dy) {
      sum_my_gradients<T, kBranches, kMask, kWritesG>(dy, args, to_g, layout_, scratch.affines, scratch.sums);
    };
    if constexpr (kMask == Mask::kFromX) {
      sum.template operator()<false>(StoredGradients<T>{values_at<T>(args.dy)});
    } else {
      with_gradients<T>(args.dy, args.dy_addend, [&](const auto& dy) {
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

template <typename T>
using OfOneBranch = CpuBatchNorm<T, 1>;
template <typename T>
using OfTwoBranches = CpuBatchNorm<T, 2>;

}  // namespace

template <>
std::unique_ptr<BatchNormOp> make_op(const BatchNormSpec& spec, const Resources& resources) {
  if (spec.pooling) return make_batch_norm_pooling(spec, resources.workspace);
  return spec.num_branches == 1 ? make_stored<OfOneBranch, BatchNormOp>(spec, resources.workspace)
                                : make_stored<OfTwoBranches, BatchNormOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
