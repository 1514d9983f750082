/// Matrix products without conditions.
#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/matmul.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kThreads = 256;

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

/// Grid ceil(M N / 256), blocks of 256: a thread for each value of d. Neighbouring threads read neighbouring values of
/// b and the same of a.
template <typename T, typename Out>
__global__ __launch_bounds__(kThreads) void matmul_kernel(const Matrix<T> a, const Matrix<T> b,
                                                          const float* __restrict__ bias, Out* __restrict__ d,
                                                          std::int64_t m, std::int64_t n, std::int64_t k) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (index >= m * n) return;
  const std::int64_t row = index / n, column = index - row * n;
  float sum = 0;
  for (std::int64_t i = 0; i < k; ++i) sum = __fmaf_rn(a.at(row, i), b.at(i, column), sum);
  if (bias != nullptr) sum += bias[column];
  d[index] = from_float<Out>(sum);
}

}  // namespace

void plain_matmul(const MatmulSpec& spec, const MatmulArguments& args, const Context& context) {
  const LaunchShape shape = {dim3(static_cast<unsigned>(ceil_div(spec.m * spec.n, kThreads))), dim3(kThreads)};
  with_type(spec.input_type, [&]<typename T>(T*) {
    const auto a = matrix<T>(args.a, spec.m, spec.k, spec.a_transposed),
               b = matrix<T>(args.b, spec.k, spec.n, spec.b_transposed);
    if (spec.output_type == DataType::kFloat32) {
      launch(&matmul_kernel<T, float>, shape, context.stream(), a, b, args.bias, static_cast<float*>(args.d), spec.m,
             spec.n, spec.k);
    } else {
      launch(&matmul_kernel<T, T>, shape, context.stream(), a, b, args.bias, static_cast<T*>(args.d), spec.m, spec.n,
             spec.k);
    }
  });
}

}  // namespace convoy::ops::cuda
