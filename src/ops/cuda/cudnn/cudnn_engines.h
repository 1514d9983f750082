/// A pass of a convolution as cuDNN's frontend writes it, and the engines that may compute it. Included only by
/// cudnn_graph.cpp and cudnn_engines.cpp: the frontend's headers take long to compile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cudnn_frontend.h>

#include "ops/cuda/cudnn/cudnn_graph.h"

namespace convoy::ops::cuda {

inline constexpr std::size_t kMaxCandidates = 8;  // maximum number of engines that are measured for a pass

// Identifiers of the three tensors in a cuDNN graph.
enum Uid : std::int64_t { kX = 1, kW, kY };

/// The shapes of the three tensors of a convolution, with filters as a "batch" of K images R x S x C/G: from their
/// channels cuDNN derives the number of groups.
struct Extents {
  explicit Extents(const ConvolutionSpec& spec)
      : x(spec.x), w(Shape::images(spec.num_filters, spec.kernel, spec.kernel, spec.filter_channels())), y(spec.y()) {}
  Shape x, w, y;
};

/// The GPU whose engines are asked for: the GPU of a handle, or one that is only described.
struct EngineSource {
  cudnnHandle_t handle = nullptr;
  std::shared_ptr<const cudnn_frontend::DeviceProperties> described;
  bool tf32 = false;
};

/// Adds the pass to the graph and asks for its engines. Returns false if cuDNN has no engine at all.
bool build(cudnn_frontend::graph::Graph& graph, const CudnnGraphSpec& spec, const EngineSource& source);

/// Returns the indices of at most kMaxCandidates engines of a built graph that CudnnGraph does not exclude and that are
/// available. The best one by cuDNN's own estimate comes first; cuDNN may name an engine twice.
std::vector<std::int64_t> candidates_of(cudnn_frontend::graph::Graph& graph);

/// Returns cuDNN's name of an engine with its settings: "eng65_k2=3_k6=1". Throws Error if cuDNN does not give it.
std::string name_of(const cudnn_frontend::graph::Graph& graph, std::int64_t engine);

}  // namespace convoy::ops::cuda
