/// The handle of cuDNN, and the cuDNN graphs, which equal convolutions share.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <cudnn.h>

#include "convoy/ops/engine_cache.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// Returns the version of cuDNN: "9.19".
std::string cudnn_version();

struct CudnnSpec {
  std::string gpu;  ///< name of the GPU's model: "NVIDIA H200"
  bool tf32 = false;
  EngineCache& engine_cache;
  /// The description of a GPU in cuDNN's JSON. This machine need not have that GPU: operations are created for it, but
  /// cannot be measured or run. Empty: the GPU of this process is used.
  std::string description = {};
};

class CudnnGraph;

class CudnnRuntime {
 public:
  /// Creates a handle whose work goes to the context's stream, or no handle for a GPU that is only described. Throws
  /// Error if cuDNN cannot create it.
  CudnnRuntime(Context& context, const CudnnSpec& spec);
  ~CudnnRuntime();
  CudnnRuntime(const CudnnRuntime&) = delete;
  CudnnRuntime& operator=(const CudnnRuntime&) = delete;

  cudnnHandle_t handle() const { return handle_; }
  Context& context() const { return context_; }
  EngineCache& engine_cache() const { return spec_.engine_cache; }
  /// The graphs that CudnnGraph::create() has made, by their keys in the engine cache. A graph is null if cuDNN has no
  /// usable engine for it.
  using Graphs = std::map<std::string, std::unique_ptr<CudnnGraph>>;
  const Graphs& graphs() const { return graphs_; }
  /// Stores a graph, which may be null, and returns it.
  CudnnGraph* keep(const std::string& key, std::unique_ptr<CudnnGraph> graph);
  /// The number of graphs that were built; each takes tens of milliseconds.
  std::int64_t num_built() const { return num_built_; }
  bool is_described() const { return !spec_.description.empty(); }
  const std::string& description() const { return spec_.description; }
  bool tf32() const { return spec_.tf32; }
  /// The first part of the keys in the engine cache, before the operation: "NVIDIA H200, cuDNN 9.19.0".
  const std::string& platform() const { return platform_; }

 private:
  Context& context_;
  CudnnSpec spec_;
  std::string platform_;
  cudnnHandle_t handle_ = nullptr;
  Graphs graphs_;
  std::int64_t num_built_ = 0;
};

}  // namespace convoy::ops::cuda
