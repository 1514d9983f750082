/// cuDNN's handle, and what all convolutions planned with it share.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <cudnn.h>

#include "convoy/ops/engine_cache.h"

#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

/// "9.19".
std::string cudnn_version();

struct CudnnSpec {
  std::string gpu;  ///< its model
  bool tf32 = false;
  EngineCache& engine_cache;
  /// Of a GPU that need not be there, in cuDNN's JSON: operations can be planned for it, but neither measured nor run.
  std::string description = {};
};

class CudnnGraph;

class CudnnRuntime {
 public:
  /// The handle's work goes to the context's stream. A GPU that is only described has none.
  CudnnRuntime(Context& context, const CudnnSpec& spec);
  ~CudnnRuntime();
  CudnnRuntime(const CudnnRuntime&) = delete;
  CudnnRuntime& operator=(const CudnnRuntime&) = delete;

  cudnnHandle_t handle() const { return handle_; }
  Context& context() const { return context_; }
  EngineCache& engine_cache() const { return spec_.engine_cache; }
  /// What CudnnGraph::create has planned, by its key in the engine cache; null where cuDNN has no engine.
  using Graphs = std::map<std::string, std::unique_ptr<CudnnGraph>>;
  const Graphs& graphs() const { return graphs_; }
  CudnnGraph* keep(const std::string& key, std::unique_ptr<CudnnGraph> graph);
  /// How often a graph was planned, which takes tens of milliseconds.
  std::int64_t num_planned() const { return num_planned_; }
  bool is_described() const { return !spec_.description.empty(); }
  const std::string& description() const { return spec_.description; }
  bool tf32() const { return spec_.tf32; }
  /// What a plan depends on beside its operation: "NVIDIA H200, cuDNN 9.19.0".
  const std::string& platform() const { return platform_; }

 private:
  Context& context_;
  CudnnSpec spec_;
  std::string platform_;
  cudnnHandle_t handle_ = nullptr;
  Graphs graphs_;
  std::int64_t num_planned_ = 0;
};

}  // namespace convoy::ops::cuda
