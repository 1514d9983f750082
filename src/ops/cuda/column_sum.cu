/// The sums of a matrix's columns in a fixed order.
#include "ops/cuda/column_sum.h"
#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kColumns = 32;  // of a block: a warp reads neighbours
constexpr int kRows = 16;     // rows that a block reads at a time
constexpr int kUnroll = 4;    // loads of a thread under way at a time

/// Grid ceil(columns / 32), blocks of 32 x 16, 2 KB of shared memory. Thread (k, r) adds the rows r, r + 16, ... of its
/// column in float32, then the 16 partial sums of a column meet in a binary tree. Reads the matrix once.
template <typename T>
__global__ __launch_bounds__(kColumns* kRows) void column_sum_kernel(const T* __restrict__ matrix,
                                                                     float* __restrict__ sums, std::int64_t num_rows,
                                                                     std::int64_t num_columns) {
  __shared__ float partial[kRows][kColumns];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  float sum = 0;
  if (column < num_columns) {
#pragma unroll kUnroll
    for (std::int64_t row = threadIdx.y; row < num_rows; row += kRows) {
      sum += to_float(matrix[row * num_columns + column]);
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  for (unsigned half = kRows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + half][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < num_columns) sums[column] = partial[0][threadIdx.x];
}

}  // namespace

void column_sum(const ColumnSumSpec& spec, const void* matrix, float* sums, const Context& context) {
  with_type(spec.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const LaunchShape shape = {dim3(static_cast<unsigned>(ceil_div(spec.num_columns, kColumns))),
                               dim3(kColumns, kRows)};
    launch(&column_sum_kernel<T>, shape, context.stream(), static_cast<const T*>(matrix), sums, spec.num_rows,
           spec.num_columns);
  });
}

}  // namespace convoy::ops::cuda
