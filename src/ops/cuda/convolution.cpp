/// Convolution on a GPU by cuDNN, which reads NHWC images and KRSC filters as they are.
#include "convoy/ops/convolution.h"

#include <algorithm>

#include "convoy/base/error.h"

#include "ops/cuda/cudnn_graph.h"
#include "ops/cuda/operations.h"
#include "ops/cuda/widen.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::int64_t kAlignmentBytes = 256;  // of the workspace behind other things in the scratch memory
constexpr float kPriceOfFloat32 = 1.1f;        // that a gradient without a last rounding to 16 bits may cost in time

std::unique_ptr<CudnnGraph> plan(const CudnnGraphSpec& spec, CudnnRuntime& cudnn) {
  std::unique_ptr<CudnnGraph> graph = CudnnGraph::plan(spec, cudnn);
  if (graph == nullptr) {
    const ConvolutionSpec& conv = spec.convolution;
    fail("cuDNN has no deterministic convolution of {} {} by {} filters {}x{}, stride {}, padding {}",
         to_string(conv.x), to_string(conv.type), conv.num_filters, conv.kernel, conv.kernel, conv.stride,
         conv.padding);
  }
  return graph;
}

/// What an engine writes dw in, which is summed in float32 in any case: few know float32 beside 16-bit inputs, and not
/// all of them are fast. Decided by the plan cache, so alike on all ranks.
DataType gradient_type(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type == DataType::kFloat32) return DataType::kFloat32;
  const auto time = [&](DataType type) {
    return CudnnGraph::milliseconds({spec, ConvolutionPass::kBackwardWeight, type}, cudnn);
  };
  const std::optional<float> in_float32 = time(DataType::kFloat32), in_16_bits = time(spec.type);
  if (!in_float32) return spec.type;
  return !in_16_bits || *in_float32 <= kPriceOfFloat32 * *in_16_bits ? DataType::kFloat32 : spec.type;
}

/// A pass that sums as it goes, the same without, and what a batch norm of its own would then read.
struct SummingPass {
  CudnnGraphSpec with_sums, plain;
  std::int64_t bytes_spared = 0;
};

/// Null where no engine sums, or where it costs more than the reading at the most that the memory moves.
std::unique_ptr<CudnnGraph> plan_where_cheaper(const SummingPass& pass, CudnnRuntime& cudnn) {
  const auto plain = CudnnGraph::milliseconds(pass.plain, cudnn),
             summing = CudnnGraph::milliseconds(pass.with_sums, cudnn);
  if (!plain || !summing || *summing >= *plain + 1e3 * cudnn.seconds_to_read(pass.bytes_spared)) return nullptr;
  return CudnnGraph::plan(pass.with_sums, cudnn);
}

/// cuDNN sums fp16's outputs, on Hopper all that ResNets ask for.
std::unique_ptr<CudnnGraph> plan_with_sums(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type != DataType::kFloat16) return nullptr;
  return plan_where_cheaper({.with_sums = {spec, ConvolutionPass::kForwardWithSums, spec.type},
                             .plain = {spec, ConvolutionPass::kForward, spec.type},
                             .bytes_spared = spec.y().count() * size_of(spec.type)},
                            cudnn);
}

/// The engine that goes on to the sums of the batch norm before, where it costs less than reading dx and a once more.
/// cuDNN has it for fp16.
std::unique_ptr<CudnnGraph> plan_backward_with_sums(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type != DataType::kFloat16 || !spec.x_is_normalised) return nullptr;
  return plan_where_cheaper({.with_sums = {spec, ConvolutionPass::kBackwardInputWithSums, spec.type},
                             .plain = {spec, ConvolutionPass::kBackwardInput, spec.type},
                             .bytes_spared = 2 * spec.x.count() * size_of(spec.type)},
                            cudnn);
}

class CudnnConvolution final : public ConvolutionOp {
 public:
  CudnnConvolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn)
      : type_(spec.type),
        num_weights_(spec.weight_count()),
        coefficients_bytes_(round_up(kNumCoefficients * coefficient_stride(spec.x.c) * kFloatBytes, kAlignmentBytes)),
        context_(cudnn.context()) {
    forward_ = plan({spec, ConvolutionPass::kForward, spec.type}, cudnn);
    forward_with_sums_ = plan_with_sums(spec, cudnn);
    if (spec.needs_dx) {
      backward_input_ = plan({spec, ConvolutionPass::kBackwardInput, spec.type}, cudnn);
      backward_input_with_sums_ = plan_backward_with_sums(spec, cudnn);
    }
    plan_backward_weight(spec, cudnn);

    std::int64_t scratch_bytes = rounded_bytes_ + backward_weight_->workspace_bytes();
    for (const auto* graph : {&forward_, &forward_with_sums_, &backward_input_})
      if (*graph != nullptr) scratch_bytes = std::max(scratch_bytes, (*graph)->workspace_bytes());
    if (backward_input_with_sums_ != nullptr)
      scratch_bytes = std::max(scratch_bytes, coefficients_bytes_ + backward_input_with_sums_->workspace_bytes());
    context_.reserve_scratch(scratch_bytes);
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
    std::byte* workspace = context_.scratch() + rounded_bytes_;
    if (rounded_bytes_ == 0) return backward_weight_->run({.x = x, .w = dw, .y = dy}, workspace);
    std::byte* rounded = context_.scratch();
    backward_weight_->run({.x = x, .w = rounded, .y = dy}, workspace);
    widen(type_, rounded, dw, num_weights_, context_);
  }

 private:
  void plan_backward_weight(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
    const DataType type = gradient_type(spec, cudnn);
    backward_weight_ = plan({spec, ConvolutionPass::kBackwardWeight, type}, cudnn);
    if (type != DataType::kFloat32) rounded_bytes_ = round_up(num_weights_ * size_of(type), kAlignmentBytes);
  }

  DataType type_;
  std::int64_t num_weights_, coefficients_bytes_;
  Context& context_;
  std::unique_ptr<CudnnGraph> forward_, forward_with_sums_, backward_input_, backward_input_with_sums_,
      backward_weight_;
  std::int64_t rounded_bytes_ = 0;  // of dw in 16 bits at the head of the scratch memory, 0 where there is none
  const void* w_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvolutionOp> make_convolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  return std::make_unique<CudnnConvolution>(spec, cudnn);
}

}  // namespace convoy::ops::cuda
