/// Softmax on a GPU: a team of lanes computes a row, whose values are in the caches after the first pass.
#include <cmath>
#include <memory>

#include "convoy/ops/softmax.h"

#include "ops/cuda/normalisation/layer_norm_rows.h"
#include "ops/cuda/resources.h"

namespace convoy::ops::cuda {

namespace {

/// Grid: RowTeams::shape. No shared memory. Reads x three times and writes y once. y may be x.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kTeamThreads) normalise_rows(RowTeams teams, const T* x, T* y) {
  const bool has_row = teams.my_row() < teams.num_rows;
  const std::int64_t row = has_row ? teams.my_row() : teams.num_rows - 1;  // lanes without a row only help to add
  const T* const from = x + row * teams.width;
  const auto for_my_values = [&](auto&& body) {
    teams.for_my_packs<0, kWidth>([&](int, int column) {
      float v[kWidth];
      load<kWidth>(from + column, v);
      body(column, v);
    });
  };
  float max = -INFINITY;
  for_my_values([&](int, const float(&v)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) max = fmaxf(max, v[i]);
  });
  max = teams.largest(max);
  float sum = 0;
  for_my_values([&](int, const float(&v)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum += expf(v[i] - max);
  });
  const float inverse = __fdiv_rn(1.0f, teams.sum(sum));
  if (!has_row) return;
  for_my_values([&](int column, float(&v)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v[i] = expf(v[i] - max) * inverse;
    store<kWidth>(v, y + row * teams.width + column);
  });
}

/// Grid: RowTeams::shape. No shared memory. Reads y and dy twice and writes dx once. dx may be dy.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kTeamThreads) differentiate_rows(RowTeams teams, const T* y, const T* dy, T* dx) {
  const bool has_row = teams.my_row() < teams.num_rows;
  const std::int64_t first = (has_row ? teams.my_row() : teams.num_rows - 1) * teams.width;
  const auto for_my_values = [&](auto&& body) {
    teams.for_my_packs<0, kWidth>([&](int, int column) {
      float v[kWidth], g[kWidth];
      load<kWidth>(y + first + column, v);
      load<kWidth>(dy + first + column, g);
      body(column, v, g);
    });
  };
  float sum = 0;
  for_my_values([&](int, const float(&v)[kWidth], const float(&g)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) sum = __fmaf_rn(v[i], g[i], sum);
  });
  sum = teams.sum(sum);
  if (!has_row) return;
  for_my_values([&](int column, const float(&v)[kWidth], float(&g)[kWidth]) {
#pragma unroll
    for (int i = 0; i < kWidth; ++i) g[i] = v[i] * (g[i] - sum);
    store<kWidth>(g, dx + first + column);
  });
}

template <typename T, int kWidth>
class CudaSoftmax final : public SoftmaxOp {
 public:
  CudaSoftmax(const SoftmaxSpec& spec, const Context& context)
      : teams_(spec.num_rows, spec.width, kWidth), context_(context) {}

  void forward(const void* x, void* y) override {
    launch(normalise_rows<T, kWidth>, teams_.shape(), context_.stream(), teams_, x, y);
  }
  void backward(const void* y, const void* dy, void* dx) override {
    launch(differentiate_rows<T, kWidth>, teams_.shape(), context_.stream(), teams_, y, dy, dx);
  }

 private:
  RowTeams teams_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<SoftmaxOp> make_op(const SoftmaxSpec& spec, const Resources& resources) {
  return make_wide<CudaSoftmax, SoftmaxOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
