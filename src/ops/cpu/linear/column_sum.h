/// The sums of a matrix's columns, or of its elementwise product with another matrix: the gradients of a bias and of a
/// scale.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;  ///< type of the matrix
};

/// Returns the number of bytes at the beginning of the workspace's scratch memory that column_sum() overwrites. The
/// caller must have reserved them.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// Computes sums[k], the sum of column k of a row-major matrix, in double, rounded once. Blocks of 1024 rows are summed
/// in the order of their rows, then the blocks in their order, for any number of threads. If `factors`, a matrix of the
/// same shape, is not null, it sums matrix[i] * factors[i], products that are exact in double.
void column_sum(const ColumnSumSpec& spec, const void* matrix, float* sums, const Workspace& workspace,
                const void* factors = nullptr);

}  // namespace convoy::ops::cpu
