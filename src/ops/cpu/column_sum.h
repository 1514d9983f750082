/// The sums of a matrix's columns, or of its products with another matrix: gradients of a bias and of a scale.
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

/// The size in bytes of the scratch memory that column_sum() overwrites.
std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec);

/// Computes sums[k], the sum of column k of a row-major matrix, in double, rounded once. Blocks of 1024 rows are summed
/// in the order of their rows, then the blocks in their order, for any number of threads. With `factors`, another
/// matrix of this shape, it sums the products of both, value by value, which are exact.
void column_sum(const ColumnSumSpec& spec, const void* matrix, float* sums, const Workspace& workspace,
                const void* factors = nullptr);

}  // namespace convoy::ops::cpu
