/// Convolution on the CPU: each of its three parts is computed in the way that is fastest for its shape. Activations
/// are NHWC, weights are in oneDNN's layouts or in our own.
#include "convoy/ops/convolution.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "ops/cpu/convolution/convolution_descriptions.h"
#include "ops/cpu/convolution/dnnl_direction.h"
#include "ops/cpu/convolution/weight_gradient.h"
#include "ops/cpu/onednn/dnnl_call.h"
#include "ops/cpu/onednn/widening.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// Whether each element of the kernel meets a pixel of x in at least one window.
bool uses_whole_kernel(const ConvolutionSpec& spec) {
  const auto uses_all = [&](std::int64_t size, std::int64_t num_windows) {
    for (std::int64_t r = 0; r < spec.kernel; ++r) {
      bool is_used = false;
      for (std::int64_t p = 0; p < num_windows && !is_used; ++p) {
        const std::int64_t pixel = p * spec.stride - spec.padding + r * spec.dilation;
        is_used = pixel >= 0 && pixel < size;
      }
      if (!is_used) return false;
    }
    return true;
  };
  return uses_all(spec.x.h, spec.y().h) && uses_all(spec.x.w, spec.y().w);
}

/// Whether oneDNN has all three parts in spec.type for this processor.
bool has_convolution(const ConvolutionSpec& spec, const DnnlRuntime& runtime) {
  if (spec.type == DataType::kFloat32) return true;
  // oneDNN 2.6 with AVX-512's products in bf16 leaves the gradients of unused elements as they were.
  if (!uses_whole_kernel(spec)) return false;
  // With dilation, oneDNN 2.6 gives wrong weight gradients by tiles (AMX), unless it has whole vectors of channels.
  if (spec.dilation > 1 && spec.x.c % 16 != 0) return false;
  const OneThread one_thread(runtime);
  const dnnl::engine& engine = runtime.engine();
  if (!has_dnnl([&] { return describe_forward(spec, engine); })) return false;
  const auto forward = describe_forward(spec, engine);
  return (!spec.needs_dx || has_dnnl([&] { return describe_backward_input(spec, engine, forward); })) && has_dnnl([&] {
           const ConvolutionSpec part = part_of_weight_gradient(spec, divide_weight_gradient(spec));
           return describe_backward_weight(part, engine, describe_forward(part, engine));
         });
}

// --- In the type of the spec --------------------------------------------------------------------------------------

class Convolution final : public ConvolutionOp {
 public:
  Convolution(const ConvolutionSpec& spec, DnnlRuntime& runtime) {
    const dnnl::memory::desc plain = ConvolutionLayouts(spec).plain_weights;
    std::shared_ptr<PackedWeights> weights;
    forward_ = make_winograd_forward(spec, runtime.workspace());
    if (forward_ == nullptr) {
      auto forward = std::make_unique<DnnlDirection<DnnlForward>>(spec, runtime, plain);
      weights = forward->weights();
      forward_ = std::move(forward);
    }
    if (!spec.has_backward) return;
    backward_weight_ = make_winograd_weight_gradient(spec, runtime.workspace());
    if (backward_weight_ == nullptr) backward_weight_ = make_bf16_weight_gradient(spec, runtime.workspace());
    if (backward_weight_ == nullptr) backward_weight_ = make_window_weight_gradient(spec, runtime);
    if (backward_weight_ == nullptr) backward_weight_ = std::make_unique<WeightGradient>(spec, runtime);
    if (!spec.needs_dx) return;
    backward_input_ = make_winograd_backward_input(spec, runtime.workspace());
    if (backward_input_ == nullptr) backward_input_ = make_pointwise_backward_input(spec, runtime);
    if (backward_input_ == nullptr)
      backward_input_ = std::make_unique<DnnlDirection<DnnlBackwardInput>>(spec, runtime, plain, weights);
  }

  void load_weights(const void* w) override {
    forward_->load_weights(w);
    if (backward_input_ != nullptr) backward_input_->load_weights(w);
  }
  std::vector<Buffer*> packed_weights() override {
    std::vector<Buffer*> packed = forward_->packed_weights();
    if (backward_input_ != nullptr) std::ranges::copy(backward_input_->packed_weights(), std::back_inserter(packed));
    return packed;
  }

  void forward(const void* x, void* y) override { forward_->run(x, y); }

  void backward_input(const void* dy, void* dx) override {
    assert(backward_input_ != nullptr);
    backward_input_->run(dy, dx);
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    assert(backward_weight_ != nullptr);
    backward_weight_->run(x, dy, dw);
  }

 private:
  std::unique_ptr<ConvolutionDirection> forward_, backward_input_;  ///< the latter if dx is needed
  std::unique_ptr<ConvolutionWeightGradient> backward_weight_;      ///< null without backward
};

// --- In bf16 on a processor for which oneDNN has only float32 -----------------------------------------------------

constexpr std::int64_t kSliceFloats = 1 << 20;  // of x and y together, unless one sample has more: 4 MiB

/// The float32 convolution of the largest equal slices of samples whose x and y fit into kSliceFloats.
ConvolutionSpec slice_of(ConvolutionSpec spec) {
  const std::int64_t samples = spec.x.n, floats_a_sample = (spec.x.count() + spec.y().count()) / samples;
  spec.x.n = std::clamp(kSliceFloats / floats_a_sample, std::int64_t{1}, samples);
  while (samples % spec.x.n != 0) --spec.x.n;
  spec.type = DataType::kFloat32;
  return spec;
}

/// Widens operands and rounds results one slice at a time, so that the float32 values stay in the cache.
class WidenedConvolution final : public ConvolutionOp {
 public:
  WidenedConvolution(const ConvolutionSpec& spec, DnnlRuntime& runtime, Widening& widening)
      : slice_(slice_of(spec)), num_slices_(spec.x.n / slice_.x.n), float32_(slice_, runtime), widening_(widening) {
    const std::int64_t part = num_slices_ > 1 ? w_count_ : 0;
    widening_.reserve(std::max(Widening::padded(x_count_) + Widening::padded(y_count_) + part, w_count_));
  }

  void load_weights(const void* w) override {
    widening_.widen(w, widening_.operands(), w_count_);
    float32_.load_weights(widening_.operands());  // packs them: they may be overwritten afterwards
  }
  std::vector<Buffer*> packed_weights() override { return float32_.packed_weights(); }

  void forward(const void* x, void* y) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(x) + i * x_count_, wide_x(), x_count_);
      float32_.forward(wide_x(), wide_y());
      widening_.round(wide_y(), values_at<Bf16>(y) + i * y_count_, y_count_);
    }
  }

  void backward_input(const void* dy, void* dx) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(dy) + i * y_count_, wide_y(), y_count_);
      float32_.backward_input(wide_y(), wide_x());
      widening_.round(wide_x(), values_at<Bf16>(dx) + i * x_count_, x_count_);
    }
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(x) + i * x_count_, wide_x(), x_count_);
      widening_.widen(values_at<Bf16>(dy) + i * y_count_, wide_y(), y_count_);
      float32_.backward_weight(wide_x(), wide_y(), i == 0 ? dw : dw_part());
      if (i > 0) widening_.add(dw_part(), dw, w_count_);
    }
  }

 private:
  float* wide_x() const { return widening_.operands(); }
  float* wide_y() const { return wide_x() + Widening::padded(x_count_); }
  float* dw_part() const { return wide_y() + Widening::padded(y_count_); }

  ConvolutionSpec slice_;
  std::int64_t num_slices_;
  std::int64_t x_count_ = slice_.x.count(), y_count_ = slice_.y().count(), w_count_ = slice_.weight_count();
  Convolution float32_;
  Widening& widening_;
};

}  // namespace

template <>
std::unique_ptr<ConvolutionOp> make_op(const ConvolutionSpec& spec, const Resources& resources) {
  DnnlRuntime& runtime = resources.dnnl;
  const std::string what = fmt::format(
      "a convolution of {} by {} filters of {}x{} in {} groups, stride {}, padding {}, dilation {}", to_string(spec.x),
      spec.num_filters, spec.kernel, spec.kernel, spec.groups, spec.stride, spec.padding, spec.dilation);
  return create_with_dnnl(runtime, what, [&]() -> std::unique_ptr<ConvolutionOp> {
    if (has_convolution(spec, runtime)) return std::make_unique<Convolution>(spec, runtime);
    return std::make_unique<WidenedConvolution>(spec, runtime, resources.widening);
  });
}

}  // namespace convoy::ops::cpu
