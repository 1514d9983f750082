/// Convolution on the CPU: oneDNN on NHWC activations, with the weights in layouts of its own.
#include "convoy/ops/convolution.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <tuple>

#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/widening.h"

namespace convoy::ops::cpu {

namespace {

// --- As oneDNN describes it ---------------------------------------------------------------------------------------

using Tag = dnnl::memory::format_tag;
using Forward = dnnl::convolution_forward;
using BackwardInput = dnnl::convolution_backward_data;
using BackwardWeight = dnnl::convolution_backward_weights;

// oneDNN may choose among its direct algorithms (never Winograd, which rounds more).
constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;

/// Extents of the weights: groups come first, where there are any.
dnnl::memory::dims weight_dims(const ConvolutionSpec& spec) {
  if (spec.groups == 1) return {spec.num_filters, spec.x.c, spec.kernel, spec.kernel};
  return {spec.groups, spec.num_filters / spec.groups, spec.filter_channels(), spec.kernel, spec.kernel};
}

/// (K,R,S,C/G), as our arenas hold them.
Tag plain_weights_tag(const ConvolutionSpec& spec) {
  return spec.groups == 1 ? Tag::ohwi : Tag::gohwi;
}

/// Layouts of a convolution: activations NHWC, weights as oneDNN likes best.
struct Layouts {
  explicit Layouts(const ConvolutionSpec& spec)
      : x(dnnl_layout({spec.x.n, spec.x.c, spec.x.h, spec.x.w}, Tag::nhwc, spec.type)),
        y(dnnl_layout({spec.y().n, spec.y().c, spec.y().h, spec.y().w}, Tag::nhwc, spec.type)),
        any_weights(dnnl_layout(weight_dims(spec), Tag::any, spec.type)),
        plain_weights(dnnl_layout(weight_dims(spec), plain_weights_tag(spec), spec.type)),
        any_gradient(dnnl_layout(weight_dims(spec), Tag::any)),
        plain_gradient(dnnl_layout(weight_dims(spec), plain_weights_tag(spec))) {}

  dnnl::memory::desc x, y, any_weights;
  dnnl::memory::desc plain_weights;                 ///< (K,R,S,C/G)
  dnnl::memory::desc any_gradient, plain_gradient;  ///< of the weights, float32
};

/// A primitive description: oneDNN 3 takes the arguments itself, oneDNN 2 by way of an operation descriptor.
template <typename Primitive, typename... Arguments, typename... Hint>
typename Primitive::primitive_desc describe(const dnnl::engine& engine, const ConvolutionSpec& spec,
                                            const std::tuple<Arguments...>& arguments, const Hint&... hint) {
  const dnnl::memory::dims strides(2, spec.stride), padding(2, spec.padding);
  return std::apply(
      [&](const auto&... a) {
#if DNNL_VERSION_MAJOR >= 3
        return typename Primitive::primitive_desc(engine, a..., strides, padding, padding, hint...,
                                                  DnnlRuntime::attributes());
#else
        return typename Primitive::primitive_desc({a..., strides, padding, padding}, DnnlRuntime::attributes(), engine,
                                                  hint...);
#endif
      },
      arguments);
}

/// Whether each element of the kernel lies over some pixel of x in some window.
bool uses_whole_kernel(const ConvolutionSpec& spec) {
  const auto uses_all = [&](std::int64_t size, std::int64_t num_windows) {
    for (std::int64_t r = 0; r < spec.kernel; ++r) {
      bool is_used = false;
      for (std::int64_t p = 0; p < num_windows && !is_used; ++p) {
        const std::int64_t pixel = p * spec.stride - spec.padding + r;
        is_used = pixel >= 0 && pixel < size;
      }
      if (!is_used) return false;
    }
    return true;
  };
  return uses_all(spec.x.h, spec.y().h) && uses_all(spec.x.w, spec.y().w);
}

Forward::primitive_desc describe_forward(const ConvolutionSpec& spec, const dnnl::engine& engine) {
  const Layouts layouts(spec);
  return describe<Forward>(
      engine, spec,
      std::tuple(dnnl::prop_kind::forward_training, kAlgorithm, layouts.x, layouts.any_weights, layouts.y));
}

BackwardInput::primitive_desc describe_backward_input(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                      const Forward::primitive_desc& forward) {
  const Layouts layouts(spec);
  return describe<BackwardInput>(engine, spec, std::tuple(kAlgorithm, layouts.x, layouts.any_weights, layouts.y),
                                 forward);
}

BackwardWeight::primitive_desc describe_backward_weight(const ConvolutionSpec& spec, const dnnl::engine& engine,
                                                        const Forward::primitive_desc& forward) {
  const Layouts layouts(spec);
  return describe<BackwardWeight>(engine, spec, std::tuple(kAlgorithm, layouts.x, layouts.any_gradient, layouts.y),
                                  forward);
}

/// Whether oneDNN has all three in spec.type for this processor.
bool has_convolution(const ConvolutionSpec& spec, const dnnl::engine& engine) {
  if (spec.type == DataType::kFloat32) return true;
  // oneDNN 2.6 with AVX-512's products in bf16 leaves the gradients of unused elements as they were.
  if (!uses_whole_kernel(spec)) return false;
  if (!has_dnnl([&] { return describe_forward(spec, engine); })) return false;
  const auto forward = describe_forward(spec, engine);
  return (!spec.needs_dx || has_dnnl([&] { return describe_backward_input(spec, engine, forward); })) &&
         has_dnnl([&] { return describe_backward_weight(spec, engine, forward); });
}

// --- By oneDNN ----------------------------------------------------------------------------------------------------

/// A copy of the weights in one of oneDNN's layouts.
class PackedWeights {
 public:
  PackedWeights() = default;
  PackedWeights(DnnlRuntime& runtime, const dnnl::memory::desc& plain, const dnnl::memory::desc& layout)
      : layout_(layout),
        buffer_(runtime.workspace().device(), static_cast<std::int64_t>(layout.get_size())),
        pack_(create_reorder(runtime, plain, layout)) {}

  static DnnlCall create_reorder(DnnlRuntime& runtime, const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
    const dnnl::reorder::primitive_desc description(runtime.engine(), from, runtime.engine(), to,
                                                    DnnlRuntime::attributes());
    return DnnlCall::create<dnnl::reorder>(runtime, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void load(const void* w) { pack_.run({w, buffer_.data()}); }
  const std::byte* data() const { return buffer_.data(); }
  const dnnl::memory::desc& layout() const { return layout_; }

 private:
  dnnl::memory::desc layout_;
  Buffer buffer_;
  DnnlCall pack_;
};

class DnnlConvolution final : public ConvolutionOp {
 public:
  DnnlConvolution(const ConvolutionSpec& spec, DnnlRuntime& runtime) : spec_(spec), runtime_(runtime), layouts_(spec) {
    const auto forward = describe_forward(spec, runtime.engine());
    create_forward(forward);
    if (spec.needs_dx) create_backward_input(forward);
    create_backward_weight(forward);
  }

  void load_weights(const void* w) override {
    forward_weights_.load(w);
    if (spec_.needs_dx && !share_weights_) backward_weights_.load(w);
  }

  void forward(const void* x, void* y) override { forward_.run({x, forward_weights_.data(), y}); }

  void backward_input(const void* dy, void* dx) override {
    assert(spec_.needs_dx);
    const PackedWeights& weights = share_weights_ ? forward_weights_ : backward_weights_;
    backward_input_.run({dy, weights.data(), dx});
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    if (dw_is_plain_) {
      backward_weight_.run({x, dy, dw});
      return;
    }
    std::byte* packed = runtime_.workspace().scratch() + packed_dw_offset_;
    backward_weight_.run({x, dy, packed});
    unpack_dw_.run({packed, dw});
  }

 private:
  void create_forward(const Forward::primitive_desc& description) {
    forward_weights_ = PackedWeights(runtime_, layouts_.plain_weights, description.weights_desc());
    forward_ = DnnlCall::create<Forward>(
        runtime_, description,
        {{DNNL_ARG_SRC, layouts_.x}, {DNNL_ARG_WEIGHTS, description.weights_desc()}, {DNNL_ARG_DST, layouts_.y}});
  }

  void create_backward_input(const Forward::primitive_desc& forward) {
    const auto description = describe_backward_input(spec_, runtime_.engine(), forward);
    share_weights_ = description.weights_desc() == forward_weights_.layout();
    if (!share_weights_) {
      backward_weights_ = PackedWeights(runtime_, layouts_.plain_weights, description.weights_desc());
    }
    backward_input_ = DnnlCall::create<BackwardInput>(runtime_, description,
                                                      {{DNNL_ARG_DIFF_DST, layouts_.y},
                                                       {DNNL_ARG_WEIGHTS, description.weights_desc()},
                                                       {DNNL_ARG_DIFF_SRC, layouts_.x}});
  }

  void create_backward_weight(const Forward::primitive_desc& forward) {
    const auto description = describe_backward_weight(spec_, runtime_.engine(), forward);
    const dnnl::memory::desc packed = description.diff_weights_desc();
    backward_weight_ = DnnlCall::create<BackwardWeight>(
        runtime_, description,
        {{DNNL_ARG_SRC, layouts_.x}, {DNNL_ARG_DIFF_DST, layouts_.y}, {DNNL_ARG_DIFF_WEIGHTS, packed}});
    dw_is_plain_ = packed == layouts_.plain_gradient;
    if (dw_is_plain_) return;
    // In scratch memory the packed gradient lies after the scratchpads of both calls.
    unpack_dw_ = PackedWeights::create_reorder(runtime_, packed, layouts_.plain_gradient);
    packed_dw_offset_ = round_up(std::max(backward_weight_.scratchpad_bytes(), unpack_dw_.scratchpad_bytes()), 64);
    runtime_.workspace().reserve(packed_dw_offset_ + static_cast<std::int64_t>(packed.get_size()));
  }

  ConvolutionSpec spec_;
  DnnlRuntime& runtime_;
  Layouts layouts_;
  PackedWeights forward_weights_, backward_weights_;
  bool share_weights_ = false;  ///< backward_input reads forward's copy
  bool dw_is_plain_ = false;
  std::int64_t packed_dw_offset_ = 0;
  DnnlCall forward_, backward_input_, backward_weight_, unpack_dw_;
};

// --- In bf16 on a processor for which oneDNN has it in float32 alone ----------------------------------------------

constexpr std::int64_t kSliceFloats = 1 << 20;  // of x and y together, unless one sample has more: 4 MiB

/// The convolution in float32 of the largest equal slices whose x and y fit.
ConvolutionSpec slice_of(ConvolutionSpec spec) {
  const std::int64_t samples = spec.x.n, floats_a_sample = (spec.x.count() + spec.y().count()) / samples;
  spec.x.n = std::clamp(kSliceFloats / floats_a_sample, std::int64_t{1}, samples);
  while (samples % spec.x.n != 0) --spec.x.n;
  spec.type = DataType::kFloat32;
  return spec;
}

/// Operands are widened and results rounded, a slice at a time, so that what is in float32 is small and stays in the
/// cache.
class WidenedConvolution final : public ConvolutionOp {
 public:
  WidenedConvolution(const ConvolutionSpec& spec, DnnlRuntime& runtime, Widening& widening)
      : slice_(slice_of(spec)), num_slices_(spec.x.n / slice_.x.n), float32_(slice_, runtime), widening_(widening) {
    const std::int64_t part = num_slices_ > 1 ? w_count_ : 0;
    widening_.reserve(std::max(Widening::padded(x_count_) + Widening::padded(y_count_) + part, w_count_));
  }

  void load_weights(const void* w) override {
    widening_.widen(w, widening_.operands(), w_count_);
    float32_.load_weights(widening_.operands());  // packs them: they need not stay
  }

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
  DnnlConvolution float32_;
  Widening& widening_;
};

}  // namespace

template <>
std::unique_ptr<ConvolutionOp> make_op(const ConvolutionSpec& spec, const Resources& resources) {
  DnnlRuntime& runtime = resources.dnnl;
  const std::string what =
      fmt::format("a convolution of {} by {} filters of {}x{} in {} groups, stride {}, padding {}", to_string(spec.x),
                  spec.num_filters, spec.kernel, spec.kernel, spec.groups, spec.stride, spec.padding);
  return create_with_dnnl(runtime, what, [&]() -> std::unique_ptr<ConvolutionOp> {
    if (has_convolution(spec, runtime.engine())) return std::make_unique<DnnlConvolution>(spec, runtime);
    return std::make_unique<WidenedConvolution>(spec, runtime, resources.widening);
  });
}

}  // namespace convoy::ops::cpu
