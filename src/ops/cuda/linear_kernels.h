/// What a fully connected layer needs beside cublasLt: a kernel for any matrix product, and sums of columns, which
/// other operations need too.
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

/// For shapes that cublasLt does not take: slow, but it needs nothing of their alignment. Each value of d is summed in
/// the order of k.
void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context);

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;  ///< of the matrix
};

struct ColumnSumArguments {
  const void* matrix = nullptr;   ///< row-major
  const void* factors = nullptr;  ///< another such matrix: then products of both are summed, value by value
  float* sums = nullptr;          ///< (columns) overwritten
  float* scratch = nullptr;       ///< column_sum_scratch_bytes() of the context's
};

inline constexpr std::int64_t kRowsOfBlock = 1024;  ///< of a matrix that is taller, blocks are summed first

/// None for a matrix of kRowsOfBlock rows or fewer.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// sums[k] = the sum of column k, in float32, in an order that depends on num_rows alone: a bias's gradient; with
/// factors a scale's.
void column_sum(const ColumnSumSpec& spec, const ColumnSumArguments& args, const Context& context);

}  // namespace convoy::ops::cuda
