/// The handle of cublasLt, and matrix products that are computed with it.
#pragma once

#include <cublasLt.h>

#include "device/cuda/handles.h"
#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

class CublasRuntime {
 public:
  CublasRuntime(Context& context, bool tf32);
  ~CublasRuntime();
  CublasRuntime(const CublasRuntime&) = delete;
  CublasRuntime& operator=(const CublasRuntime&) = delete;

  cublasLtHandle_t handle() const { return handle_; }
  Context& context() const { return context_; }
  bool tf32() const { return tf32_; }

 private:
  Context& context_;
  bool tf32_;
  cublasLtHandle_t handle_ = nullptr;
};

/// A matrix product. The constructor chooses its algorithm: the first of cublasLt's heuristics among those that give
/// the same bits at every call. If there is none, it logs a warning, and plain_matmul() computes the product. The
/// constructor needs a GPU: without one, cublasLt does not tell which shapes it supports.
class Matmul {
 public:
  Matmul(const MatmulSpec& spec, CublasRuntime& runtime);

  void run(const MatmulArguments& args);

  using Layout = convoy::cuda::Owned<cublasLtMatrixLayout_t, &cublasLtMatrixLayoutDestroy>;
  using Description = convoy::cuda::Owned<cublasLtMatmulDesc_t, &cublasLtMatmulDescDestroy>;

 private:
  CublasRuntime& runtime_;
  MatmulSpec spec_;
  bool is_plain_ = false;  ///< true if cublasLt has no algorithm, so that plain_matmul() computes the product
  Description description_;
  Layout a_, b_, d_;
  cublasLtMatmulHeuristicResult_t choice_{};
};

}  // namespace convoy::ops::cuda
