/// Softmax on the CPU: a row's exponentials are kept in float32 until their sum is known.
#include "convoy/ops/softmax.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numbers>

#include "ops/cpu/attention/exp_simd.h"
#include "ops/cpu/lanes_simd.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

/// Returns exp(d) for d <= 0; 0 for d below -86; NaN for NaN.
[[gnu::always_inline]] inline Vec exponential(Vec d) {
  const Vec exponent = d * std::numbers::log2e_v<float>, power = power_of_2(exponent);
  return exponent < -124.0f ? Vec{} : power;
}

/// Computes y of a row x. `row` has memory for `width` floats, rounded up to whole vectors.
template <typename T>
void normalise_row(const T* x, T* y, std::int64_t width, float* row) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::fill_n(row + width / kLanes * kLanes, width % kLanes == 0 ? 0 : kLanes, -kInfinity);
  for_lanes(0, width, [&]<typename V>(std::int64_t i, V) { write(row + i, read<V>(x + i)); });
  Vec largest = Vec{} - kInfinity;
  for (std::int64_t i = 0; i < width; i += kLanes) largest = larger(read<Vec>(row + i), largest);
  const float max = max_of_lanes(largest);
  Vec sums{};
  for (std::int64_t i = 0; i < width; i += kLanes) {
    const Vec e = exponential(read<Vec>(row + i) - max);
    write(row + i, e);
    sums += e;
  }
  const float inverse = 1.0f / sum_of_lanes(sums);
  for_lanes(0, width, [&]<typename V>(std::int64_t i, V) { write(y + i, V(read<V>(row + i) * inverse)); });
}

template <typename T>
void differentiate_row(const T* y, const T* dy, T* dx, std::int64_t width) {
  Vec sums{};
  float rest = 0;
  for_lanes(0, width, [&]<typename V>(std::int64_t i, V) {
    const V product = read<V>(y + i) * read<V>(dy + i);
    if constexpr (std::is_same_v<V, Vec>) {
      sums += product;
    } else {
      rest += product;
    }
  });
  const float sum = sum_of_lanes(sums) + rest;
  for_lanes(0, width,
            [&]<typename V>(std::int64_t i, V) { write(dx + i, V(read<V>(y + i) * (read<V>(dy + i) - sum))); });
}

template <typename T>
class CpuSoftmax final : public SoftmaxOp {
 public:
  CpuSoftmax(const SoftmaxSpec& spec, Workspace& workspace)
      : spec_(spec), row_count_((spec.width + kLanes - 1) / kLanes * kLanes), workspace_(workspace) {
    workspace_.reserve(workspace_.threads() * row_count_ * kFloatBytes);
  }

  void forward(const void* x_data, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    for_all_rows([=, this, width = spec_.width](std::int64_t first) {
      float* const row = reinterpret_cast<float*>(workspace_.scratch()) + omp_get_thread_num() * row_count_;
      normalise_row(x + first, y + first, width, row);
    });
  }

  void backward(const void* y_data, const void* dy_data, void* dx_data) override {
    const T *y = values_at<T>(y_data), *dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    for_all_rows(
        [=, width = spec_.width](std::int64_t first) { differentiate_row(y + first, dy + first, dx + first, width); });
  }

 private:
  /// Calls body(index of the row's first value) for each row.
  template <typename Body>
  void for_all_rows(const Body& body) const {
#pragma omp parallel num_threads(workspace_.threads()) if (spec_.num_rows * spec_.width >= kWorthThreads)
    {
      const Range mine = my_part_of(spec_.num_rows);
      for (std::int64_t row = mine.begin; row < mine.end; ++row) body(row * spec_.width);
    }
  }

  SoftmaxSpec spec_;
  std::int64_t row_count_;  ///< number of floats of a thread's scratch memory
  Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<SoftmaxOp> make_op(const SoftmaxSpec& spec, const Resources& resources) {
  return make_stored<CpuSoftmax, SoftmaxOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
