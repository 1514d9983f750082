/// Convolution on the CPU: oneDNN on NHWC activations, with the weights in layouts of its own.
#include "convoy/ops/convolution.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "ops/cpu/dnnl_call.h"
#include "ops/cpu/dnnl_convolution.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/widened_convolution.h"

namespace convoy::ops::cpu {

namespace {

/// A copy of the weights in one of oneDNN's layouts.
class PackedWeights {
 public:
  PackedWeights() = default;
  PackedWeights(DnnlRuntime& runtime, const dnnl::memory::desc& plain, const dnnl::memory::desc& layout)
      : layout_(layout),
        buffer_(runtime.workspace().device(), static_cast<std::int64_t>(layout.get_size())),
        pack_(plan_reorder(runtime, plain, layout)) {}

  static DnnlCall plan_reorder(DnnlRuntime& runtime, const dnnl::memory::desc& from, const dnnl::memory::desc& to) {
    const dnnl::reorder::primitive_desc description(runtime.engine(), from, runtime.engine(), to,
                                                    DnnlRuntime::attributes());
    return DnnlCall::plan<dnnl::reorder>(runtime, description, {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void load(const void* w) { pack_.run({w, buffer_.data()}); }
  const std::byte* data() const { return buffer_.data(); }
  const dnnl::memory::desc& layout() const { return layout_; }

 private:
  dnnl::memory::desc layout_;
  Buffer buffer_;
  DnnlCall pack_;
};

class CpuConvolution final : public ConvolutionOp {
 public:
  CpuConvolution(const ConvolutionSpec& spec, DnnlRuntime& runtime) : spec_(spec), runtime_(runtime), layouts_(spec) {
    const auto forward = describe_forward(spec, runtime.engine());
    plan_forward(forward);
    if (spec.needs_dx) plan_backward_input(forward);
    plan_backward_weight(forward);
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
  void plan_forward(const ConvolutionForward::primitive_desc& description) {
    forward_weights_ = PackedWeights(runtime_, layouts_.plain_weights, description.weights_desc());
    forward_ = DnnlCall::plan<ConvolutionForward>(
        runtime_, description,
        {{DNNL_ARG_SRC, layouts_.x}, {DNNL_ARG_WEIGHTS, description.weights_desc()}, {DNNL_ARG_DST, layouts_.y}});
  }

  void plan_backward_input(const ConvolutionForward::primitive_desc& forward) {
    const auto description = describe_backward_input(spec_, runtime_.engine(), forward);
    share_weights_ = description.weights_desc() == forward_weights_.layout();
    if (!share_weights_) {
      backward_weights_ = PackedWeights(runtime_, layouts_.plain_weights, description.weights_desc());
    }
    backward_input_ = DnnlCall::plan<ConvolutionBackwardInput>(runtime_, description,
                                                               {{DNNL_ARG_DIFF_DST, layouts_.y},
                                                                {DNNL_ARG_WEIGHTS, description.weights_desc()},
                                                                {DNNL_ARG_DIFF_SRC, layouts_.x}});
  }

  void plan_backward_weight(const ConvolutionForward::primitive_desc& forward) {
    const auto description = describe_backward_weight(spec_, runtime_.engine(), forward);
    const dnnl::memory::desc packed = description.diff_weights_desc();
    backward_weight_ = DnnlCall::plan<ConvolutionBackwardWeight>(
        runtime_, description,
        {{DNNL_ARG_SRC, layouts_.x}, {DNNL_ARG_DIFF_DST, layouts_.y}, {DNNL_ARG_DIFF_WEIGHTS, packed}});
    dw_is_plain_ = packed == layouts_.plain_gradient;
    if (dw_is_plain_) return;
    // In scratch memory the packed gradient lies behind the scratchpads of both calls.
    unpack_dw_ = PackedWeights::plan_reorder(runtime_, packed, layouts_.plain_gradient);
    packed_dw_offset_ = round_up(std::max(backward_weight_.scratchpad_bytes(), unpack_dw_.scratchpad_bytes()), 64);
    runtime_.workspace().reserve(packed_dw_offset_ + static_cast<std::int64_t>(packed.get_size()));
  }

  ConvolutionSpec spec_;
  DnnlRuntime& runtime_;
  ConvolutionLayouts layouts_;
  PackedWeights forward_weights_, backward_weights_;
  bool share_weights_ = false;  ///< backward_input reads forward's copy
  bool dw_is_plain_ = false;
  std::int64_t packed_dw_offset_ = 0;
  DnnlCall forward_, backward_input_, backward_weight_, unpack_dw_;
};

}  // namespace

std::unique_ptr<ConvolutionOp> make_convolution(const ConvolutionSpec& spec, DnnlRuntime& runtime, Widening& widening) {
  const std::string what =
      fmt::format("a convolution of {} by {} filters of {}x{}, stride {}, padding {}", to_string(spec.x),
                  spec.num_filters, spec.kernel, spec.kernel, spec.stride, spec.padding);
  const auto with_dnnl = [&](const ConvolutionSpec& native) -> std::unique_ptr<ConvolutionOp> {
    return std::make_unique<CpuConvolution>(native, runtime);
  };
  return plan_with_dnnl(runtime, what, [&] {
    return has_convolution(spec, runtime.engine()) ? with_dnnl(spec)
                                                   : make_widened_convolution(spec, widening, with_dnnl);
  });
}

}  // namespace convoy::ops::cpu
