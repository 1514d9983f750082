/// A kernel for matrix products of any shape and type, and the sums of a matrix's columns in a fixed order.
#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/linear/linear_kernels.h"

namespace convoy::ops::cuda {

namespace {

template <typename T>
struct Matrix {
  const T* values;
  std::int64_t row_stride, column_stride;

  __device__ float at(std::int64_t row, std::int64_t column) const {
    return to_float(values[row * row_stride + column * column_stride]);
  }
};

template <typename T>
Matrix<T> matrix(const void* values, std::int64_t num_rows, std::int64_t num_columns, bool transposed) {
  const auto* typed = static_cast<const T*>(values);
  return transposed ? Matrix<T>{typed, 1, num_rows} : Matrix<T>{typed, num_columns, 1};
}

/// Grid: ceil(M N / 256). Block: 256, a thread for each value of d. Neighbouring threads read neighbouring values of b
/// and the same values of a.
template <typename T, typename Out>
__global__ __launch_bounds__(kThreads) void matmul_kernel(const Matrix<T> a, const Matrix<T> b,
                                                          const Out* __restrict__ bias, Out* __restrict__ d,
                                                          std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t index = my_index();
  if (index >= m * n) return;
  const std::int64_t row = index / n, column = index - row * n;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum = __fmaf_rn(a.at(row, i), b.at(i, column), sum);
  if (bias != nullptr) sum += to_float(bias[column]);
  d[index] = from_float<Out>(sum);
}

constexpr int kColumns = 32;  // of a block: a warp reads neighbours
constexpr int kRows = 16;     // rows that a block reads at a time
constexpr int kUnroll = 4;    // loads of a thread in flight at a time

/// Grid: ceil(columns / 32) x blocks of rows x matrices. Block: 32 x 16. Shared: 2 KB. Thread (k, r) adds the rows r, r
/// + 16, ... of its column in the block in float32, then a binary tree adds the 16 partial sums of a column. Writes a
/// row of `sums` for each block. Reads the matrix once, and the factors, if any.
template <typename T, typename Sum>
__global__ __launch_bounds__(kColumns* kRows) void column_sum_kernel(const T* __restrict__ matrices,
                                                                     const T* __restrict__ all_factors,
                                                                     Sum* __restrict__ sums, std::int64_t num_rows,
                                                                     std::int64_t num_columns) {
  __shared__ float partial[kRows][kColumns];
  const std::int64_t to_matrix = blockIdx.z * num_rows * num_columns;
  const T* const matrix = matrices + to_matrix;
  const T* const factors = all_factors == nullptr ? nullptr : all_factors + to_matrix;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * kColumns + threadIdx.x;
  const std::int64_t first = static_cast<std::int64_t>(blockIdx.y) * kRowsOfBlock;
  const std::int64_t end = first + kRowsOfBlock < num_rows ? first + kRowsOfBlock : num_rows;
  float sum = 0;
  if (column < num_columns) {
#pragma unroll kUnroll
    for (std::int64_t row = first + threadIdx.y; row < end; row += kRows) {
      const float value = to_float(matrix[row * num_columns + column]);
      sum = factors == nullptr ? sum + value : __fmaf_rn(value, to_float(factors[row * num_columns + column]), sum);
    }
  }
  partial[threadIdx.y][threadIdx.x] = sum;
  for (unsigned half = kRows / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.y < half) partial[threadIdx.y][threadIdx.x] += partial[threadIdx.y + half][threadIdx.x];
  }
  if (threadIdx.y == 0 && column < num_columns)
    sums[(std::int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * num_columns + column] =
        from_float<Sum>(partial[0][threadIdx.x]);
}

std::int64_t num_blocks(std::int64_t num_rows) {
  return ceil_div(num_rows, kRowsOfBlock);
}

}  // namespace

void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context) {
  const LaunchShape shape = shape_for(spec.m * spec.n);
  with_type(spec.input_type, [&]<typename T>(T*) {
    const auto a = matrix<T>(args.a, spec.m, spec.k, spec.a_transposed),
               b = matrix<T>(args.b, spec.k, spec.n, spec.b_transposed);
    if (spec.output_type == DataType::kFloat32) {
      launch(&matmul_kernel<T, float>, shape, context.stream(), a, b, args.bias, args.d, spec.m, spec.n, spec.k);
    } else {
      launch(&matmul_kernel<T, T>, shape, context.stream(), a, b, args.bias, args.d, spec.m, spec.n, spec.k);
    }
  });
}

std::int64_t column_sum_scratch_bytes(const ColumnSumSpec& spec) {
  if (spec.num_rows <= kRowsOfBlock) return 0;
  const ColumnSumSpec blocks{num_blocks(spec.num_rows), spec.num_columns, DataType::kFloat32};
  const std::int64_t above = blocks.num_rows > kRowsOfBlock ? num_blocks(blocks.num_rows) : 0;
  return spec.num_matrices * (blocks.num_rows + above) * spec.num_columns * static_cast<std::int64_t>(sizeof(float));
}

// The sums of blocks are themselves a matrix whose columns are summed.
void column_sum(const ColumnSumSpec& spec, const ColumnSumArguments& args, const Context& context) {
  const void *matrix = args.matrix, *factors = args.factors;
  DataType type = spec.type;
  float* scratch = args.scratch;
  for (std::int64_t rows = spec.num_rows; rows > 0;) {
    const std::int64_t blocks = num_blocks(rows);
    void* sums = blocks == 1 ? args.sums : scratch;
    const LaunchShape shape = {dim3(static_cast<unsigned>(ceil_div(spec.num_columns, kColumns)),
                                    static_cast<unsigned>(blocks), static_cast<unsigned>(spec.num_matrices)),
                               dim3(kColumns, kRows)};
    with_type(type, [&]<typename T>(T*) {
      with_type(blocks == 1 ? spec.sum_type : DataType::kFloat32, [&]<typename Sum>(Sum*) {
        launch(&column_sum_kernel<T, Sum>, shape, context.stream(), matrix, factors, sums, rows, spec.num_columns);
      });
    });
    matrix = sums;
    factors = nullptr;
    type = DataType::kFloat32;
    scratch += spec.num_matrices * blocks * spec.num_columns;
    rows = blocks == 1 ? 0 : blocks;
  }
}

}  // namespace convoy::ops::cuda
