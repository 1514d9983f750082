/// Two batch normalisations, their sum and its ReLU on the CPU: passes of sums, then a pass of results that reads only
/// once what both have in common. Compiled without contraction to fused multiply-adds, for the bits of batch_norm.cpp.
#include "convoy/ops/batch_norm_sum.h"

#include <memory>

#include "ops/cpu/batch_norm_backward.h"
#include "ops/cpu/batch_norm_forward.h"
#include "ops/cpu/batch_norm_rows.h"
#include "ops/cpu/batch_norm_steps.h"
#include "ops/cpu/relu_mask.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// The parts of one call's scratch memory.
struct Scratch {
  ColumnSums<3> sums;
  ColumnTotals<3> totals;
  AffineRow a, b;
  float *mean_g, *slope_a, *slope_b;  ///< as in SlopeRow; mean_g is the same in both branches

  static std::int64_t size_bytes(const RowLayout& layout) {
    const std::int64_t doubles = 3 * layout.width, floats = 9 * layout.width + 3 * (layout.blocks + 1) * layout.width;
    return doubles * static_cast<std::int64_t>(sizeof(double)) + floats * static_cast<std::int64_t>(sizeof(float));
  }

  Scratch(std::byte* memory, const RowLayout& layout) {
    const std::int64_t width = layout.width, sum = (layout.blocks + 1) * width;
    auto* doubles = reinterpret_cast<double*>(memory);
    totals = {doubles, doubles + width, doubles + 2 * width};
    auto* floats = reinterpret_cast<float*>(doubles + 3 * width);
    a = {floats, floats + width, floats + 2 * width};
    b = {floats + 3 * width, floats + 4 * width, floats + 5 * width};
    mean_g = floats + 6 * width;
    slope_a = floats + 7 * width;
    slope_b = floats + 8 * width;
    float* const first = floats + 9 * width;
    sums = {first, first + sum, first + 2 * sum};
  }
};

/// Computes the calling thread's part of y = relu(bn(a) + bn(b)) and, with kMask, of the ReLU's mask for backward.
template <typename T, bool kMask>
void normalise_my_sums(const T* a, const T* b, T* y, std::uint8_t* mask, const RowLayout& layout,
                       const Scratch& scratch) {
  compute_my_rows(layout, PrefetchedArrays<T>{a, b, y}, [&]<typename V>(std::int64_t i, V) {
    return [a, b, y, mask, of_a = scratch.a.column<V>(i), of_b = scratch.b.column<V>(i)](std::int64_t at) {
      const V sum = normalised(read<V>(a + at), of_a) + normalised(read<V>(b + at), of_b);
      if (kMask) write_mask<T>(mask, at, sum);
      write(y + at, relu(sum));
    };
  });
}

/// Sums g, g * (a - mean_a) and g * (b - mean_b) over the calling thread's blocks. g is dy if the ReLU let the value
/// through, else 0. If dy has an addend, g is written to `to_g`.
template <typename T, typename Gradients>
void sum_my_gradients_of_both(const Gradients& dy, const BatchNormSumGradInputs& in, T* to_g, const RowLayout& layout,
                              const Scratch& scratch) {
  const T *const a = values_at<T>(in.a.x), *const b = values_at<T>(in.b.x);
  const std::uint8_t* const mask = in.mask;
  const PrefetchedArrays<T> arrays{values_at<T>(in.dy), values_at<T>(in.dy_addend), a, b, to_g};
  sum_my_blocks_and_tail(layout, scratch.sums, arrays, [&]<typename V>(std::int64_t /*first_row*/, std::int64_t i, V) {
    return [=, mean_a = read<V>(scratch.a.mean + i), mean_b = read<V>(scratch.b.mean + i)](std::int64_t at) {
      const V g = kept_by_mask(mask, at, dy.template at<V>(at));
      if constexpr (Gradients::kAreSummed) write_exact(to_g + at, g);
      return Terms<V, 3>{g, g * (read<V>(a + at) - mean_a), g * (read<V>(b + at) - mean_b)};
    };
  });
}

/// Computes the calling thread's part of dx = gamma * inv_std * (g - mean(g) - xhat * mean(g * xhat)) in both branches.
/// g is `dy` if the ReLU let the value through, else 0.
template <typename T>
void input_gradients_of_my_sums(const T* dy, const BatchNormSumGradInputs& in, T* da, T* db, const RowLayout& layout,
                                const Scratch& scratch) {
  const PrefetchedArrays<T> arrays{dy, values_at<T>(in.a.x), values_at<T>(in.b.x), da, db};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    return [dy, in, da, db, mean_a = read<V>(scratch.a.mean + i), mean_b = read<V>(scratch.b.mean + i),
            scale_a = read<V>(scratch.a.scale + i), scale_b = read<V>(scratch.b.scale + i),
            slope_a = read<V>(scratch.slope_a + i), slope_b = read<V>(scratch.slope_b + i),
            mean_g = read<V>(scratch.mean_g + i)](std::int64_t at) {
      const V g = kept_by_mask(in.mask, at, read<V>(dy + at));
      const V a = read<V>(values_at<T>(in.a.x) + at), b = read<V>(values_at<T>(in.b.x) + at);
      write(da + at, V((g - mean_g - (a - mean_a) * slope_a) * scale_a));
      write(db + at, V((g - mean_g - (b - mean_b) * slope_b) * scale_b));
    };
  });
}

/// Computes the calling thread's part of dx = g * scale in both branches.
template <typename T, typename Gradients>
void inference_gradients_of_my_sums(const Gradients& dy, const BatchNormSumInferenceGrad& args, const RowLayout& layout,
                                    const Scratch& scratch) {
  const PrefetchedArrays<T> arrays{values_at<T>(args.dy), values_at<T>(args.dy_addend), values_at<T>(args.y),
                                   values_at<T>(args.a.dx), values_at<T>(args.b.dx)};
  compute_my_rows(layout, arrays, [&]<typename V>(std::int64_t i, V) {
    return [dy, args, scale_a = read<V>(scratch.a.scale + i), scale_b = read<V>(scratch.b.scale + i)](std::int64_t at) {
      const V g = where_positive<T>(read<V>(values_at<T>(args.y) + at), dy.template at<V>(at));
      write(values_at<T>(args.a.dx) + at, V(g * scale_a));
      write(values_at<T>(args.b.dx) + at, V(g * scale_b));
    };
  });
}

template <typename T>
class CpuBatchNormSum final : public BatchNormSumOp {
 public:
  CpuBatchNormSum(const BatchNormSumSpec& spec, Workspace& workspace)
      : spec_(spec), layout_(spec.x), workspace_(workspace) {
    workspace_.reserve(Scratch::size_bytes(layout_));
  }

  void forward(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      compute_statistics_of(in.a, out.a, scratch, scratch.a);
      compute_statistics_of(in.b, out.b, scratch, scratch.b);
#pragma omp barrier
      normalise_my_sums<T, true>(values_at<T>(in.a.x), values_at<T>(in.b.x), values_at<T>(out.y), out.mask, layout_,
                                 scratch);
    }
  }

  void forward_again(const BatchNormSumInputs& in, const BatchNormSumOutputs& out) override {
    normalise_by(in.a.x, in.b.x, out.y, affine_of(in.a, out.a), affine_of(in.b, out.b));
  }

  void infer(const BatchNormSumInference& args) override {
    const auto affine_of = [this](const BatchNormSumInference::Branch& branch) {
      return [this, branch](std::int64_t c) { return running_affine(branch, c, spec_.epsilon); };
    };
    normalise_by(args.a.x, args.b.x, args.y, affine_of(args.a), affine_of(args.b));
  }

  void backward(const BatchNormSumGradInputs& in, const BatchNormSumGradOutputs& out) override {
    const Scratch scratch(workspace_.scratch(), layout_);
    T *const da = values_at<T>(out.a.dx), *const db = values_at<T>(out.b.dx);
    T* const to_g = in.dy_addend != nullptr ? db : nullptr;
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.a, affine_without_beta(in.a));
      expand_my_channels(layout_, scratch.b, affine_without_beta(in.b));
#pragma omp barrier
      with_gradients<T>(in.dy, in.dy_addend,
                        [&](const auto& dy) { sum_my_gradients_of_both(dy, in, to_g, layout_, scratch); });
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      const Range channels = my_part_of(layout_.channels);
      for (std::int64_t c = channels.begin; c < channels.end; ++c) {
        out.a.dbeta[c] = out.b.dbeta[c] = finish_dbeta(layout_, c, scratch.totals[0], scratch.mean_g);
        finish_branch(c, in.a, out.a, scratch.totals[1], scratch.slope_a);
        finish_branch(c, in.b, out.b, scratch.totals[2], scratch.slope_b);
      }
#pragma omp barrier
      input_gradients_of_my_sums(to_g != nullptr ? to_g : values_at<T>(in.dy), in, da, db, layout_, scratch);
    }
  }

  void infer_backward(const BatchNormSumInferenceGrad& args) override {
    const auto factor_of = [this](const BatchNormSumInferenceGrad::Branch& branch) {
      return [this, branch](std::int64_t c) { return running_factor(branch, c, spec_.epsilon); };
    };
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.a, factor_of(args.a));
      expand_my_channels(layout_, scratch.b, factor_of(args.b));
#pragma omp barrier
      with_gradients<T>(args.dy, args.dy_addend,
                        [&](const auto& dy) { inference_gradients_of_my_sums<T>(dy, args, layout_, scratch); });
    }
  }

 private:
  static auto affine_of(const BatchNormSumInputs::Branch& in, const BatchNormSumOutputs::Branch& out) {
    return [in, out](std::int64_t c) -> ChannelAffine {
      return {in.gamma[c], in.beta[c], out.mean[c], out.inv_std[c]};
    };
  }
  static auto affine_without_beta(const BatchNormSumGradInputs::Branch& in) {
    return [in](std::int64_t c) -> ChannelAffine { return {in.gamma[c], 0, in.mean[c], in.inv_std[c]}; };
  }

  void compute_statistics_of(const BatchNormSumInputs::Branch& in, const BatchNormSumOutputs::Branch& out,
                             const Scratch& scratch, const AffineRow& to) const {
    compute_statistics<T>({.x = in.x, .gamma = in.gamma, .beta = in.beta},
                          {.mean = out.mean, .inv_std = out.inv_std, .var_unbiased = out.var_unbiased}, spec_.epsilon,
                          layout_, {scratch.sums[0], scratch.sums[1]}, {scratch.totals[0], scratch.totals[1]}, to);
  }

  template <typename OfA, typename OfB>
  void normalise_by(const void* a, const void* b, void* y, const OfA& of_a, const OfB& of_b) const {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_channels(layout_, scratch.a, of_a);
      expand_my_channels(layout_, scratch.b, of_b);
#pragma omp barrier
      normalise_my_sums<T, false>(values_at<T>(a), values_at<T>(b), values_at<T>(y), nullptr, layout_, scratch);
    }
  }

  void finish_branch(std::int64_t c, const BatchNormSumGradInputs::Branch& in,
                     const BatchNormSumGradOutputs::Branch& out, const double* product_totals, float* slope) const {
    out.dgamma[c] = finish_dgamma(layout_, c, product_totals, double{in.inv_std[c]}, slope);
    out.mean[c] = in.mean[c];
    out.var_unbiased[c] = in.var_unbiased[c];
  }

  BatchNormSumSpec spec_;
  RowLayout layout_;
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<BatchNormSumOp> make_op(const BatchNormSumSpec& spec, const Resources& resources) {
  return make_stored<CpuBatchNormSum, BatchNormSumOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
