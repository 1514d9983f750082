/// cublasLt's handle, and matrix products planned with it.
#pragma once

#include <cstdint>
#include <memory>

#include <cublasLt.h>

#include "convoy/base/data_type.h"

#include "ops/cuda/context.h"

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

/// d (M,N) = a (M,K) b (K,N) [+ bias (N) in each row], row-major, accumulated in float32.
struct MatmulSpec {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;                  ///< in memory a is (K,M)
  bool b_transposed = false;                  ///< in memory b is (N,K)
  bool bias = false;                          ///< float32
  DataType input_type = DataType::kFloat32;   ///< of a and b
  DataType output_type = DataType::kFloat32;  ///< of d; float32 with a bias
};

struct MatmulArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const float* bias = nullptr;
  void* d = nullptr;
};

/// Planned once: the first algorithm of cublasLt's heuristics among those that give the same bits at every call.
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
