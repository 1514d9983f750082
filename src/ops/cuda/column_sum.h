/// The sums of a matrix's columns: a bias's gradient.
#pragma once

#include <cstdint>

#include "convoy/base/data_type.h"

#include "ops/cuda/context.h"

namespace convoy::ops::cuda {

struct ColumnSumSpec {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  DataType type = DataType::kFloat32;  ///< of the matrix
};

/// sums[k] = the sum of column k of a row-major matrix, in float32, in an order that depends on num_rows alone.
void column_sum(const ColumnSumSpec& spec, const void* matrix, float* sums, const Context& context);

}  // namespace convoy::ops::cuda
