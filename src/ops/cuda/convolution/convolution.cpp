/// Convolution on a GPU by cuDNN, which reads NHWC images and KRSC filters directly.
#include "convoy/ops/convolution.h"

#include "convoy/base/error.h"

#include "ops/cuda/convolution/convolution_kernels.h"
#include "ops/cuda/cudnn/cudnn_graph.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

constexpr std::int64_t kAlignmentBytes = 256;  // of the workspace, which follows the gradient in the scratch memory
constexpr float kPriceOfFloat32 = 1.1f;        // relative time that a float32 gradient may take: it is not rounded

CudnnGraph* create(const CudnnGraphSpec& spec, CudnnRuntime& cudnn) {
  CudnnGraph* graph = CudnnGraph::create(spec, cudnn);
  if (graph == nullptr) {
    const ConvolutionSpec& conv = spec.convolution;
    fail(
        "cuDNN has no deterministic convolution of {} {} by {} filters {}x{} in {} groups, stride {}, padding {}, "
        "dilation {}",
        to_string(conv.x), to_string(conv.type), conv.num_filters, conv.kernel, conv.kernel, conv.groups, conv.stride,
        conv.padding, conv.dilation);
  }
  return graph;
}

/// The type in which an engine writes dw, which it sums in float32 in any case. Few engines write float32 from 16-bit
/// inputs, and not all of them are fast. The engine cache decides, so all ranks have the same type.
DataType gradient_type(const ConvolutionSpec& spec, CudnnRuntime& cudnn) {
  if (spec.type == DataType::kFloat32) return DataType::kFloat32;
  const auto time = [&](DataType type) {
    return CudnnGraph::milliseconds({spec, ConvolutionPass::kBackwardWeight, type}, cudnn);
  };
  const std::optional<float> in_float32 = time(DataType::kFloat32), in_16_bits = time(spec.type);
  if (!in_float32) return spec.type;
  return !in_16_bits || *in_float32 <= kPriceOfFloat32 * *in_16_bits ? DataType::kFloat32 : spec.type;
}

class CudnnConvolution final : public ConvolutionOp {
 public:
  CudnnConvolution(const ConvolutionSpec& spec, CudnnRuntime& cudnn)
      : spec_(spec),
        rounded_bytes_(round_up(spec.weight_count() * size_of(spec.type), kAlignmentBytes)),
        context_(cudnn.context()) {
    forward_ = create({spec, ConvolutionPass::kForward, spec.type}, cudnn);
    if (spec.has_backward) {
      if (spec.needs_dx) backward_input_ = create({spec, ConvolutionPass::kBackwardInput, spec.type}, cudnn);
      gradient_type_ = gradient_type(spec, cudnn);
      backward_weight_ = create({spec, ConvolutionPass::kBackwardWeight, gradient_type_}, cudnn);
    }
    reserve_scratch();
  }

  void load_weights(const void* w) override { w_ = w; }

  void forward(const void* x, void* y) override { forward_->run({.x = x, .w = w_, .y = y}, context_.scratch()); }

  void backward_input(const void* dy, void* dx) override {
    backward_input_->run({.x = dx, .w = w_, .y = dy}, context_.scratch());
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    const bool is_wide = gradient_type_ == DataType::kFloat32;
    std::byte* const scratch = context_.scratch();  // begins with the gradient if the engine does not write float32
    backward_weight_->run({.x = x, .w = is_wide ? static_cast<void*>(dw) : scratch, .y = dy},
                          is_wide ? scratch : scratch + rounded_bytes_);
    if (!is_wide) widen(gradient_type_, scratch, dw, spec_.weight_count(), context_);
  }

 private:
  /// Reserves scratch memory. Each pass uses it from its beginning: for a gradient first, then for the engine's
  /// workspace.
  void reserve_scratch() {
    const auto reserve = [&](const CudnnGraph* graph, std::int64_t before) {
      if (graph != nullptr) context_.reserve_scratch(before + graph->workspace_bytes());
    };
    reserve(forward_, 0);
    reserve(backward_input_, 0);
    reserve(backward_weight_, gradient_type_ == DataType::kFloat32 ? 0 : rounded_bytes_);
  }

  ConvolutionSpec spec_;
  std::int64_t rounded_bytes_;  // of dw in 16 bits
  Context& context_;
  DataType gradient_type_ = DataType::kFloat32;  // that backward_weight_ writes
  // The runtime owns the graphs. Convolutions of equal specs share them, since they run one after the other.
  CudnnGraph *forward_ = nullptr, *backward_input_ = nullptr, *backward_weight_ = nullptr;
  const void* w_ = nullptr;
};

}  // namespace

template <>
std::unique_ptr<ConvolutionOp> make_op(const ConvolutionSpec& spec, const Resources& resources) {
  return std::make_unique<CudnnConvolution>(spec, *resources.cudnn);
}

}  // namespace convoy::ops::cuda
