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
  DataType weight_type = DataType::kFloat32;  ///< type of w; x and y are of convolution.type
};

/// The tensors of a pass in device memory, named by their part in the forward pass: they are values or gradients. The
/// pass writes one of them.
struct ConvolutionTensors {
  const void* x = nullptr;
  const void* w = nullptr;
  const void* y = nullptr;
};

/// One pass of a convolution by an engine of cuDNN's heuristics. Not used are engines that give other bits at the next
/// call, that sum in less than float32, that transform the problem (Winograd, FFT: other rounding errors than those of
/// a sum), and, without TF32, that round float32 inputs. Of the others, the pass uses the one that the engine cache
/// names, or else the fastest measured one that gives the same bits again.
class CudnnGraph {
 public:
  /// Returns the graph for this spec, which the runtime owns and creates once for all calls with an equal spec. Null if
  /// cuDNN has no such engine.
  static CudnnGraph* create(const CudnnGraphSpec& spec, CudnnRuntime& runtime);
  /// Returns the measured time of the engine in milliseconds, as the engine cache has stored it; nothing if there is no
  /// engine. It is rounded as in the cache, so that every call gives the same value.
  static std::optional<float> milliseconds(const CudnnGraphSpec& spec, CudnnRuntime& runtime);

  virtual ~CudnnGraph() = default;

  virtual std::int64_t workspace_bytes() const = 0;
  virtual void run(const ConvolutionTensors& tensors, void* workspace) = 0;
};

/// Returns the engines that CudnnGraph::create would measure, in its order, on a GPU that need not exist: `gpu` is
/// cuDNN's description of it, in JSON. Without a driver, the engines that cuDNN compiles at run time are missing.
/// Throws Error if cuDNN does not accept the description; versions before 9.8 accept none.
std::vector<std::string> engines_on(const std::string& gpu, const CudnnGraphSpec& spec, bool tf32 = false);

}  // namespace convoy::ops::cuda
