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

/// Computes a matrix product of a shape that cublasLt does not support: slowly, but for any alignment. Each value of d
/// is summed in the order of k.
void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context);

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;  ///< type of the matrix
};

struct ColumnSumArguments {
  const void* matrix = nullptr;   ///< row-major
  const void* factors = nullptr;  ///< another matrix of this shape: the products of both, value by value, are summed
  float* sums = nullptr;          ///< (columns) overwritten
  float* scratch = nullptr;       ///< column_sum_scratch_bytes() of the context's scratch memory
};

inline constexpr std::int64_t kRowsOfBlock = 1024;  ///< if a matrix has more rows, blocks of 1024 rows are summed first

/// The size in bytes of column_sum()'s scratch memory; 0 for a matrix of at most kRowsOfBlock rows.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// Computes sums[k], the sum of column k, in float32 and in an order that depends on num_rows alone: the gradient of a
/// bias or, with factors, of a scale.
void column_sum(const ColumnSumSpec& spec, const ColumnSumArguments& args, const Context& context);

}  // namespace convoy::ops::cuda
