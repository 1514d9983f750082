/// One pass of a convolution as a cuDNN graph with the engine that computes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/ops/convolution.h"

#include "ops/cuda/cudnn_runtime.h"

namespace convoy::ops::cuda {

enum class ConvolutionPass {
  kForward,         ///< x, w -> y
  kBackwardInput,   ///< y (its gradient), w -> x (its gradient)
  kBackwardWeight,  ///< x, y (its gradient) -> w (its gradient)
};

struct CudnnGraphSpec {
  ConvolutionSpec convolution;
  ConvolutionPass pass = ConvolutionPass::kForward;
  DataType weight_type = DataType::kFloat32;  ///< of w; x and y are of convolution.type
};

/// Device memory by its part in the forward pass, values and gradients alike. The pass writes one of them.
struct ConvolutionTensors {
  const void* x = nullptr;
  const void* w = nullptr;
  const void* y = nullptr;
};

/// Engines come from cuDNN's heuristics. Left out are those that give other bits at the next call, that sum in less
/// than float32, that transform the problem (Winograd, FFT: other rounding errors than a sum's), and, without TF32,
/// those that round float32 inputs. Of the rest the fastest measured one that gives the same bits again computes, or
/// the one that the engine cache names.
class CudnnGraph {
 public:
  /// The runtime's: planned once, whoever asks for an equal spec. Null where cuDNN has no such engine.
  static CudnnGraph* create(const CudnnGraphSpec& spec, CudnnRuntime& runtime);
  /// What the engine was measured to take, by whoever filled the engine cache; nothing where there is none. Rounded as
  /// in the cache, so that every call gives the same value.
  static std::optional<float> milliseconds(const CudnnGraphSpec& spec, CudnnRuntime& runtime);

  virtual ~CudnnGraph() = default;

  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ConvolutionTensors& tensors, void* workspace) = 0;
};

/// The engines that CudnnGraph::create would measure on a GPU that need not be there, in its order: `gpu` is cuDNN's
/// own description of one, in JSON. Those that cuDNN compiles when it runs are missing where there is no driver. Throws
/// Error where cuDNN does not understand the description; before 9.8 it understands none.
std::vector<std::string> engines_on(const std::string& gpu, const CudnnGraphSpec& spec, bool tf32 = false);

}  // namespace convoy::ops::cuda
