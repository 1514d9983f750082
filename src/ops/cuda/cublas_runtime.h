/// cublasLt's handle, and matrix products planned with it.
#pragma once

#include <cstdint>
#include <memory>

#include <cublasLt.h>

#include "ops/cuda/context.h"
#include "ops/cuda/matmul.h"

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

/// Planned once: the first algorithm of cublasLt's heuristics among those that give the same bits at every call; our
/// own kernel, with a warning, where there is none. cublasLt does not tell without a GPU which shapes it takes.
class Matmul {
 public:
  Matmul(const MatmulSpec& spec, CublasRuntime& runtime);
  ~Matmul();

  void run(const MatmulArguments& args);

 private:
  struct Plan;
  CublasRuntime& runtime_;
  std::unique_ptr<Plan> plan_;
};

}  // namespace convoy::ops::cuda
