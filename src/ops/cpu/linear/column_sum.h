/// The sums of a matrix's columns, or of its elementwise product with another matrix: the gradients of a bias and of a
/// scale. There can be several matrices, such as one for each sample, with sums of their own.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cpu/resources.h"

namespace convoy::ops::cpu {

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;      ///< type of the matrix
  std::int64_t num_matrices = 1;           ///< number of matrices, which follow one another in memory
  DataType sum_type = DataType::kFloat32;  ///< type of the sums
};

/// Returns the number of bytes at the beginning of the workspace's scratch memory that column_sum() overwrites. The
/// caller must have reserved them.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// Computes sums[m, k], the sum of column k of the row-major matrix m, in double, rounded to float32 and then to
/// sum_type. Blocks of 1024 rows are summed in the order of their rows, then the blocks in their order, for any number
/// of threads and matrices. If `factors`, matrices of the same shape, are not null, it sums matrix[i] * factors[i],
/// products that are exact in double.
void column_sum(const ColumnSumSpec& spec, const void* matrix, void* sums, const Workspace& workspace,
                const void* factors = nullptr);
/// Computes the sums of column_sum() in double, not rounded to float32 or sum_type. `sums` may be in the scratch
/// memory, but only after its first column_sum_scratch_bytes() bytes.
void column_sum_in_double(const ColumnSumSpec& spec, const void* matrix, double* sums, const Workspace& workspace,
                          const void* factors = nullptr);

}  // namespace convoy::ops::cpu
