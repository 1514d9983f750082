/// One pass of a convolution as a cuDNN graph with the engine that computes it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convoy/ops/convolution.h"

#include "ops/cuda/cudnn/cudnn_runtime.h"

namespace convoy::ops::cuda {

enum class ConvolutionPass {
  kForward,         ///< computes y from x and w
  kBackwardInput,   ///< computes dx from dy and w
  kBackwardWeight,  ///< computes dw from x and dy
};

struct CudnnGraphSpec {
  ConvolutionSpec convolution;
  ConvolutionPass pass = ConvolutionPass::kForward;
  DataType weight_type = DataType::kFloat32;  ///< type of w; x and y are of convolution.type
};

/// The tensors of a pass, in device memory. The pass writes one of them. In a backward pass `y` is dy, and the tensor
/// that it writes is dx (`x`) or dw (`w`).
struct ConvolutionTensors {
  const void* x = nullptr;
  const void* w = nullptr;
  const void* y = nullptr;
};

/// One pass of a convolution, computed by an engine (algorithm) of cuDNN. These engines are excluded: those that may
/// give other bits at the next call, that sum in less than float32, that transform the problem (Winograd, FFT: other
/// rounding errors than those of a sum) and, without TF32, that round float32 inputs. Of the other engines, the pass
/// uses the one that the engine cache names. If it names none, engines are measured, and the fastest is used that gives
/// the same bits again.
class CudnnGraph {
 public:
  /// Returns the graph for this spec. The runtime owns it and creates it once for all calls with an equal spec. Returns
  /// null if cuDNN has no usable engine for it.
  static CudnnGraph* create(const CudnnGraphSpec& spec, CudnnRuntime& runtime);
  /// Returns the measured time of the chosen engine in milliseconds, from the engine cache; nothing if no engine is
  /// usable. It is rounded as in the cache, so that every call gives the same value.
  static std::optional<float> milliseconds(const CudnnGraphSpec& spec, CudnnRuntime& runtime);

  virtual ~CudnnGraph() = default;

  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ConvolutionTensors& tensors, void* workspace) = 0;
};

/// Returns the names of the engines that CudnnGraph::create() would measure on a GPU, in its order. The GPU need not
/// exist: `gpu` is cuDNN's description of it, in JSON. Without a driver, the engines that cuDNN compiles at run time
/// are missing. Throws Error if cuDNN does not accept the description; versions before 9.8 accept none.
std::vector<std::string> engines_on(const std::string& gpu, const CudnnGraphSpec& spec, bool tf32 = false);

}  // namespace convoy::ops::cuda
