/// Dropout on the CPU, some vectors of random words at a time. Compiled without contraction: a product is rounded
/// before it is added.
#include "convoy/ops/dropout.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/draw_words_simd.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kDraw = LayerWords::kNumDraws;      // values that are drawn for at a time
constexpr std::int64_t kDrawsWorthThreads = 8192 / kDraw;  // below, waking threads costs more than the loop

/// A value as it is read again after T stored it.
template <typename T>
[[gnu::always_inline]] inline Vec as_stored(Vec v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else {
    return widened(rounded_to_bf16(v));
  }
}

template <typename T>
class CpuDropout final : public DropoutOp {
 public:
  CpuDropout(const DropoutSpec& spec, const Workspace& workspace) : spec_(spec), workspace_(workspace) {}

  void run(const DrawKey* key, const void* x, void* y) override {
    run_as<false>(*key, values_at<T>(x), nullptr, values_at<T>(y));
  }
  void run_and_add(const DrawKey* key, const void* x, const void* residual, void* y) override {
    run_as<true>(*key, values_at<T>(x), values_at<T>(residual), values_at<T>(y));
  }

 private:
  template <bool kAdds>
  void run_as(const DrawKey& key, const T* x, const T* residual, T* y) const {
    const LayerWords words(key, spec_.layer);
    const std::int64_t num_draws = (spec_.count + kDraw - 1) / kDraw;
    const bool alone = num_draws < kDrawsWorthThreads || workspace_.threads() == 1;
#pragma omp parallel num_threads(workspace_.threads()) if (!alone)
    {
      const Range draws = my_part_of(num_draws);
      for (std::int64_t i = draws.begin; i < draws.end; ++i) {
        const std::int64_t at = i * kDraw, count = std::min(kDraw, spec_.count - at);
        if (count == kDraw) {
          drop<kAdds>(words, i, x + at, kAdds ? residual + at : nullptr, y + at);
        } else {
          drop_first<kAdds>(words, i, x + at, kAdds ? residual + at : nullptr, y + at, count);
        }
      }
    }
  }

  /// The values of one draw.
  template <bool kAdds>
  [[gnu::always_inline]] void drop(const LayerWords& layer, std::int64_t draw, const T* x, const T* residual,
                                   T* y) const {
    WordVec words[LayerWords::kNumVectors];
    layer.draw(static_cast<std::uint32_t>(draw * LayerWords::kNumBlocks), words);
    const auto threshold = static_cast<std::uint16_t>(spec_.threshold());
    const float scale = spec_.scale();
    const auto drop_vector = [&](HalfVec draws, std::int64_t i) {
      const Vec v = kept_values(draws, threshold, scale * read<Vec>(x + i));
      write(y + i, kAdds ? read<Vec>(residual + i) + as_stored<T>(v) : v);
    };
    for (std::int64_t i = 0; i < LayerWords::kNumVectors; ++i) {
      drop_vector(draws_in<0>(words[i]), 2 * i * kLanes);
      drop_vector(draws_in<1>(words[i]), (2 * i + 1) * kLanes);
    }
  }

  /// Of the last draw, some of whose values are not there.
  template <bool kAdds>
  void drop_first(const LayerWords& layer, std::int64_t draw, const T* x, const T* residual, T* y,
                  std::int64_t count) const {
    T some_x[kDraw] = {}, some_residual[kDraw] = {}, some_y[kDraw];
    std::copy_n(x, count, some_x);
    if constexpr (kAdds) std::copy_n(residual, count, some_residual);
    drop<kAdds>(layer, draw, some_x, some_residual, some_y);
    std::copy_n(some_y, count, y);
  }

  DropoutSpec spec_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<DropoutOp> make_op(const DropoutSpec& spec, const Resources& resources) {
  return make_stored<CpuDropout, DropoutOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
