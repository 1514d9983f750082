/// Matrix products: what is asked of them, and a kernel that computes any of them.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/context.h"

namespace convoy::ops::cuda {

/// d (M,N) = a (M,K) b (K,N) [+ bias (N) in each row], row-major, accumulated in float32.
struct MatmulSpec {
  std::int64_t m = 0, n = 0, k = 0;
  bool a_transposed = false;                  ///< in memory a is (K,M)
  bool b_transposed = false;                  ///< in memory b is (N,K)
  bool bias = false;                          ///< float32
  DataType input_type = DataType::kFloat32;   ///< of a and b
  DataType output_type = DataType::kFloat32;  ///< of d: float32 or input_type; float32 with a bias
};

struct MatmulArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const float* bias = nullptr;
  void* d = nullptr;
};

/// For shapes that cublasLt does not take: slow, but it needs nothing of their alignment. Each value of d is summed in
/// the order of k.
void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context);

}  // namespace convoy::ops::cuda
