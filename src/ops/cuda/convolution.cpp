/// Convolution on a GPU by cuDNN, which reads NHWC images and KRSC filters directly.
#include "convoy/ops/convolution.h"

#include "convoy/base/error.h"

#include "ops/cuda/convolution_kernels.h"
#include "ops/cuda/cudnn_graph.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::int64_t kAlignmentBytes = 256;  // of the workspace after other things in the scratch memory
constexpr float kPriceOfFloat32 = 1.1f;        // that a gradient without a last rounding to 16 bits may cost in time

CudnnGraph* create(const CudnnGraphSpec& spec, CudnnRuntime& cudnn) {
  CudnnGraph* graph = CudnnGraph::create(spec, cudnn);
  if (graph == nullptr) {
    const ConvolutionSpec& conv = spec.convolution;
    fail("cuDNN has no deterministic convolution of {} {} by {} filters {}x{} in {} groups, stride {}, padding {}",
         to_string(conv.x), to_string(conv.type), conv.num_filters, conv.kernel, conv.kernel, conv.groups, conv.stride,
         conv.padding);
  }
  return graph;
}

/// What an engine writes dw in, which is summed in float32 in any case: few know float32 beside 16-bit inputs, and not
/// all of them are fast. Decided by the engine cache, so alike on all ranks.
DataType gradient_type(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type == DataType::kFloat32) return DataType::kFloat32;
  const auto time = [&](DataType type) {
    return CudnnGraph::milliseconds({spec, ConvolutionPass::kBackwardWeight, type}, cudnn);
  };
  const std::optional<float> in_float32 = time(DataType::kFloat32), in_16_bits = time(spec.type);
  if (!in_float32) return spec.type;
  return !in_16_bits || *in_float32 <= kPriceOfFloat32 * *in_16_bits ? DataType::kFloat32 : spec.type;
}

/// A pass that sums as it goes. Null where no engine does, or where it costs more than the same pass without, and the
/// reading at most that the memory moves of what a batch norm of its own would then read.
CudnnGraph* create_where_cheaper(const CudnnGraphSpec& summing, ConvolutionPass plain, std::int64_t bytes_spared,
                                 CudnnRuntime& cudnn) {
  const auto plain_time = CudnnGraph::milliseconds({summing.convolution, plain, summing.weight_type}, cudnn),
             summing_time = CudnnGraph::milliseconds(summing, cudnn);
  if (!plain_time || !summing_time || *summing_time >= *plain_time + 1e3 * cudnn.seconds_to_read(bytes_spared))
    return nullptr;
  return CudnnGraph::create(summing, cudnn);
}

/// What reads a instead of x.
struct NormalisingPasses {
  CudnnGraph* forward = nullptr;
  CudnnGraph* backward_weight = nullptr;
};

/// Both or none: where they cost less than their likes that read x, and than making x, which reads a and writes x.
/// `plain_milliseconds`: of those likes.
NormalisingPasses create_normalising(const ConvolutionSpec& spec, double plain_milliseconds, CudnnRuntime& cudnn) {
  const CudnnGraphSpec forward{spec, ConvolutionPass::kNormaliseAndForwardWithSums, spec.type},
      backward_weight{spec, ConvolutionPass::kNormaliseAndBackwardWeight, spec.type};
  const auto forward_time = CudnnGraph::milliseconds(forward, cudnn),
             weight_time = CudnnGraph::milliseconds(backward_weight, cudnn);
  const double making_x = 1e3 * cudnn.seconds_to_read(2 * spec.x.count() * size_of(spec.type));
  if (!forward_time || !weight_time || *forward_time + *weight_time >= plain_milliseconds + making_x) return {};
  return {.forward = CudnnGraph::create(forward, cudnn), .backward_weight = CudnnGraph::create(backward_weight, cudnn)};
}

class CudnnConvolution final : public ConvolutionOp {
 public:
  CudnnConvolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn)
      : spec_(spec),
        coefficients_bytes_(round_up(kNumCoefficients * coefficient_stride(spec.x.c) * kFloatBytes, kAlignmentBytes)),
        row_bytes_(round_up(spec.x.c * size_of(spec.type), kAlignmentBytes)),
        rounded_bytes_(round_up(spec.weight_count() * size_of(spec.type), kAlignmentBytes)),
        context_(cudnn.context()),
        gradient_type_(gradient_type(spec, cudnn)) {
    forward_ = create({spec, ConvolutionPass::kForward, spec.type}, cudnn);
    if (spec.needs_dx) backward_input_ = create({spec, ConvolutionPass::kBackwardInput, spec.type}, cudnn);
    backward_weight_ = create({spec, ConvolutionPass::kBackwardWeight, gradient_type_}, cudnn);
    // Of groups no engine that does more was ever compared on a GPU.
    if (spec.type == DataType::kFloat16 && spec.groups == 1) create_fused(cudnn);
    reserve_scratch();
  }

  void load_weights(const void* w) override { w_ = w; }

  void forward(const void* x, void* y) override { forward_->run({.x = x, .w = w_, .y = y}, context_.scratch()); }

  bool gives_sums() const override { return forward_with_sums_ != nullptr; }

  void forward_with_sums(const void* x, void* y, const ChannelSums& sums) override {
    forward_with_sums_->run({.x = x, .w = w_, .y = y, .sums = sums}, context_.scratch());
  }

  void backward_input(const void* dy, void* dx) override {
    backward_input_->run({.x = dx, .w = w_, .y = dy}, context_.scratch());
  }

  bool sums_gradients() const override { return backward_input_with_sums_ != nullptr; }

  void backward_input_with_sums(const void* dy, const NormalisedInput& in,
                                const NormalisedInputGradients& out) override {
    backward_input_with_sums_->run({.x = out.g,
                                    .w = w_,
                                    .y = dy,
                                    .normalised = in,
                                    .dgamma = out.dgamma,
                                    .dbeta = out.dbeta,
                                    .coefficients = reinterpret_cast<float*>(context_.scratch())},
                                   context_.scratch() + coefficients_bytes_);
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    write_gradient(*backward_weight_, gradient_type_, {.x = x, .y = dy}, dw, context_.scratch());
  }

  bool normalises() const override { return normalising_.forward != nullptr; }

  void normalise_and_forward(const NormalisedInput& in, void* y, const ChannelSums& sums) override {
    ConvolutionTensors tensors = with_rows_of(in);
    tensors.w = w_;
    tensors.y = y;
    tensors.sums = sums;
    normalising_.forward->run(tensors, context_.scratch() + 2 * row_bytes_);
  }

  void normalise_and_backward_weight(const NormalisedInput& in, const void* dy, float* dw) override {
    ConvolutionTensors tensors = with_rows_of(in);
    tensors.y = dy;
    write_gradient(*normalising_.backward_weight, spec_.type, tensors, dw, context_.scratch() + 2 * row_bytes_);
  }

 private:
  /// What cuDNN has for fp16, on Hopper all that ResNets ask for: sums of the outputs, and of the gradients that the
  /// batch norm before needs (spared: reading dx and a once more), and reading a instead of x.
  void create_fused(CudnnRuntime& cudnn) {
    const DataType type = spec_.type;
    const std::int64_t x_bytes = spec_.x.count() * size_of(type), y_bytes = spec_.y().count() * size_of(type);
    forward_with_sums_ = create_where_cheaper({spec_, ConvolutionPass::kForwardWithSums, type},
                                              ConvolutionPass::kForward, y_bytes, cudnn);
    if (!spec_.x_is_normalised) return;
    if (spec_.needs_dx)
      backward_input_with_sums_ = create_where_cheaper({spec_, ConvolutionPass::kBackwardInputWithSums, type},
                                                       ConvolutionPass::kBackwardInput, 2 * x_bytes, cudnn);
    normalising_ = create_normalising(spec_, plain_milliseconds(cudnn), cudnn);
  }

  /// Forward, with a pass over y where a batch norm has to make its sums itself, and weight gradient.
  double plain_milliseconds(CudnnRuntime& cudnn) const {
    const auto time = [&](ConvolutionPass pass, DataType type) {
      return static_cast<double>(CudnnGraph::milliseconds({spec_, pass, type}, cudnn).value());
    };
    const double forward = forward_with_sums_ != nullptr
                               ? time(ConvolutionPass::kForwardWithSums, spec_.type)
                               : time(ConvolutionPass::kForward, spec_.type) +
                                     1e3 * cudnn.seconds_to_read(spec_.y().count() * size_of(spec_.type));
    return forward + time(ConvolutionPass::kBackwardWeight, gradient_type_);
  }

  /// Each pass has the scratch memory from its beginning: rows or a gradient first, then the engine's workspace.
  void reserve_scratch() {
    const auto reserve = [&](const CudnnGraph* graph, std::int64_t before) {
      if (graph != nullptr) context_.reserve_scratch(before + graph->workspace_bytes());
    };
    reserve(forward_, 0);
    reserve(forward_with_sums_, 0);
    reserve(backward_input_, 0);
    reserve(backward_input_with_sums_, coefficients_bytes_);
    reserve(backward_weight_, gradient_type_ == DataType::kFloat32 ? 0 : rounded_bytes_);
    reserve(normalising_.forward, 2 * row_bytes_);
    reserve(normalising_.backward_weight, 2 * row_bytes_ + rounded_bytes_);
  }

  /// Computed again for each pass: C values, beside tensors of millions.
  ConvolutionTensors with_rows_of(const NormalisedInput& in) {
    std::byte *scale = context_.scratch(), *shift = scale + row_bytes_;
    compute_scale_and_shift(in, {.type = spec_.type, .num_channels = spec_.x.c, .scale = scale, .shift = shift},
                            context_);
    return {.normalised = in, .scale = scale, .shift = shift};
  }

  /// `type`: what the engine writes, at the head of the scratch memory where dw cannot take it.
  void write_gradient(CudnnGraph& graph, DataType type, ConvolutionTensors tensors, float* dw, std::byte* scratch) {
    const bool is_wide = type == DataType::kFloat32;
    tensors.w = is_wide ? static_cast<void*>(dw) : scratch;
    graph.run(tensors, is_wide ? scratch : scratch + rounded_bytes_);
    if (!is_wide) widen(type, scratch, dw, spec_.weight_count(), context_);
  }

  ConvolutionSpec spec_;
  std::int64_t coefficients_bytes_;  // that batch norm's sums come with
  std::int64_t row_bytes_;           // of C values
  std::int64_t rounded_bytes_;       // of dw in 16 bits
  Context& context_;
  DataType gradient_type_;  // that backward_weight_ writes
  // The runtime's, shared by convolutions of equal specs: they run one after the other.
  CudnnGraph *forward_ = nullptr, *forward_with_sums_ = nullptr, *backward_input_ = nullptr,
             *backward_input_with_sums_ = nullptr, *backward_weight_ = nullptr;
  NormalisingPasses normalising_;
  const void* w_ = nullptr;
};

}  // namespace

template <>
std::unique_ptr<ConvolutionOp> make_op(const ConvolutionSpec& spec, const Resources& resources) {
  return std::make_unique<CudnnConvolution>(spec, *resources.cudnn);
}

}  // namespace convoy::ops::cuda
