/// Convolution on a GPU by cuDNN, which reads NHWC images and KRSC filters as they are.
#include "convoy/ops/convolution.h"

#include <algorithm>

#include "convoy/base/error.h"

#include "ops/cuda/cudnn_graph.h"
#include "ops/cuda/operations.h"
#include "ops/cuda/widen.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::int64_t kAlignmentBytes = 256;  // of the workspace behind a gradient in the scratch memory
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

/// The engine that sums as it goes, where there is one and it costs less than reading y once more at the most that the
/// memory moves. cuDNN has it for fp16 on Hopper.
std::unique_ptr<CudnnGraph> plan_with_sums(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type != DataType::kFloat16) return nullptr;
  const CudnnGraphSpec with_sums = {spec, ConvolutionPass::kForwardWithSums, spec.type};
  const auto plain = CudnnGraph::milliseconds({spec, ConvolutionPass::kForward, spec.type}, cudnn);
  const auto summing = CudnnGraph::milliseconds(with_sums, cudnn);
  const double y_bytes = static_cast<double>(spec.y().count() * size_of(spec.type));
  if (!plain || !summing || *summing >= *plain + 1e3 * y_bytes / cudnn.peak_bytes_per_second()) return nullptr;
  return CudnnGraph::plan(with_sums, cudnn);
}

class CudnnConvolution final : public ConvolutionOp {
 public:
  CudnnConvolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn)
      : type_(spec.type),
        num_weights_(spec.num_filters * spec.kernel * spec.kernel * spec.x.c),
        context_(cudnn.context()) {
    forward_ = plan({spec, ConvolutionPass::kForward, spec.type}, cudnn);
    forward_with_sums_ = plan_with_sums(spec, cudnn);
    if (spec.needs_dx) backward_input_ = plan({spec, ConvolutionPass::kBackwardInput, spec.type}, cudnn);
    plan_backward_weight(spec, cudnn);

    std::int64_t scratch_bytes =
        std::max(forward_->workspace_bytes(), rounded_bytes_ + backward_weight_->workspace_bytes());
    if (forward_with_sums_ != nullptr) scratch_bytes = std::max(scratch_bytes, forward_with_sums_->workspace_bytes());
    if (backward_input_ != nullptr) scratch_bytes = std::max(scratch_bytes, backward_input_->workspace_bytes());
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
  std::int64_t num_weights_;
  Context& context_;
  std::unique_ptr<CudnnGraph> forward_, forward_with_sums_, backward_input_, backward_weight_;
  std::int64_t rounded_bytes_ = 0;  // of dw in 16 bits at the head of the scratch memory, 0 where there is none
  const void* w_ = nullptr;
};

}  // namespace

std::unique_ptr<ConvolutionOp> make_convolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  return std::make_unique<CudnnConvolution>(spec, cudnn);
}

}  // namespace convoy::ops::cuda
