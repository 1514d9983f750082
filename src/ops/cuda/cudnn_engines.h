/// A pass of a convolution as cuDNN's frontend writes it, and the engines that may compute it. Included only by
/// cudnn_graph.cpp and cudnn_engines.cpp: the frontend's headers take long to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cudnn_frontend.h>

#include "ops/cuda/cudnn_graph.h"

namespace convoy::ops::cuda {

inline constexpr std::size_t kMaxCandidates = 8;  // engines measured

// What the graph calls its tensors.
enum Uid : std::int64_t { kX = 1, kW, kY };

/// The three tensors of a convolution, filters as a "batch" of K images R x S x C/G: cuDNN sees by their channels that
/// there are groups.
struct Extents {
  explicit Extents(const ConvolutionSpec& spec)
      : x(spec.x), w{spec.num_filters, spec.kernel, spec.kernel, spec.filter_channels()}, y(spec.y()) {}
  Shape x, w, y;
};

/// Whose engines are asked for: the GPU of a handle, or one of which only a description is there.
struct EngineSource {
  cudnnHandle_t handle = nullptr;
  std::shared_ptr<const cudnn_frontend::DeviceProperties> described;
  bool tf32 = false;
};

/// Writes the pass and asks for its engines. False where cuDNN knows none, wanted or not.
bool build(cudnn_frontend::graph::Graph& graph, const CudnnGraphSpec& spec, const EngineSource& source);

/// Of a built graph: the indices of at most kMaxCandidates engines that are wanted and available, best first by cuDNN's
/// own guess, which may name one twice.
std::vector<std::int64_t> candidates_of(cudnn_frontend::graph::Graph& graph);

/// cuDNN's name of an engine with its settings: "eng65_k2=3_k6=1".
std::string name_of(const cudnn_frontend::graph::Graph& graph, std::int64_t engine);

}  // namespace convoy::ops::cuda
