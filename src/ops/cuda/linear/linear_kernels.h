/// The kernels that a fully connected layer needs in addition to cublasLt: one for any matrix product, and one for sums
/// of columns, which other operations need, too.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/resources.h"
#include "ops/linear_products.h"

namespace convoy::ops::cuda {

struct MatmulArguments {
  const void* a = nullptr;
  const void* b = nullptr;
  const void* bias = nullptr;
  void* d = nullptr;
};

/// Computes a matrix product that cublasLt does not support: slowly, but for any shape and alignment. Each value of d
/// is summed in the order of k. Enqueued on the context's stream.
void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context);

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;      ///< type of the matrix
  std::int64_t num_matrices = 1;           ///< number of matrices, which follow one another in memory; at most 65535
  DataType sum_type = DataType::kFloat32;  ///< type of the sums
};

struct ColumnSumArguments {
  const void* matrix = nullptr;   ///< (num_matrices, num_rows, num_columns), row-major
  const void* factors = nullptr;  ///< of the same shape: matrix[i] * factors[i] is summed; null: matrix[i] is summed
  void* sums = nullptr;           ///< (num_matrices, num_columns): the results, overwritten
  float* scratch = nullptr;       ///< column_sum_scratch_bytes() bytes of scratch memory; may be null if that is 0
};

inline constexpr std::int64_t kRowsOfBlock = 1024;  ///< number of rows that one thread block of column_sum() adds up

/// Returns the size in bytes of column_sum()'s scratch memory; 0 for a matrix of at most kRowsOfBlock rows.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// Computes sums[m, k], the sum of column k of matrix m, in float32 and in an order that depends on num_rows alone. It
/// is the gradient of a bias or, with factors, of a scale. All pointers are to device memory. Enqueued on the context's
/// stream.
void column_sum(const ColumnSumSpec& spec, const ColumnSumArguments& args, const Context& context);

}  // namespace convoy::ops::cuda
