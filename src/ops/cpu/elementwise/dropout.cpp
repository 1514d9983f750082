/// Dropout on the CPU, some vectors of random words at a time. Compiled without contraction: a product is rounded
/// before it is added.
#include "convoy/ops/dropout.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/draw_words_simd.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"
#include "ops/draw_words.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kDraw = LayerWords::kNumDraws;      // values for which one call draws
constexpr std::int64_t kDrawsWorthThreads = 8192 / kDraw;  // below, waking threads costs more than the loop

/// Values as they are read again after T stored them.
template <typename T, typename V>
[[gnu::always_inline]] inline V as_stored(V v) {
  if constexpr (std::is_same_v<T, float>) {
    return v;
  } else if constexpr (std::is_same_v<V, float>) {
    return to_float(rounded_to<T>(v));
  } else {
    return widened(rounded_to_bf16(v));
  }
}

template <typename T>
class CpuDropout final : public DropoutOp {
 public:
  CpuDropout(const DropoutSpec& spec, const Workspace& workspace) : spec_(spec), workspace_(workspace) {}

  void run(const DrawKey* key, const void* x, void* y) override {
    run_as<Pass::kPlain>(*key, values_at<T>(x), nullptr, values_at<T>(y));
  }
  void run_and_add(const DrawKey* key, const void* x, const void* residual, void* y) override {
    run_as<Pass::kAdds>(*key, values_at<T>(x), values_at<T>(residual), values_at<T>(y));
  }
  void relu_and_run(const DrawKey* key, const void* x, void* y) override {
    run_as<Pass::kRelu>(*key, values_at<T>(x), nullptr, values_at<T>(y));
  }
  void backward_of_relu(const void* y_data, const void* dy_data, void* dx_data) override {
    const T *y = values_at<T>(y_data), *dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    in_parts(spec_.count, workspace_.threads(), [=, scale = spec_.scale()](Range range) {
      for_lanes(range.begin, range.end, [=]<typename V>(std::int64_t i, V) {
        write(dx + i, read<V>(y + i) <= 0.0f ? V{} : V(scale * read<V>(dy + i)));
      });
    });
  }

 private:
  /// The operation before the dropout (kRelu) or after it (kAdds), in the same pass.
  enum class Pass { kPlain, kAdds, kRelu };

  template <Pass pass>
  void run_as(const DrawKey& key, const T* x, const T* residual, T* y) const {
    if (spec_.values_per_draw > 1) return run_together<pass>(key, x, residual, y);
    const LayerWords words(key, spec_.layer);
    const std::int64_t num_draws = (spec_.count + kDraw - 1) / kDraw;
    const bool alone = num_draws < kDrawsWorthThreads || workspace_.threads() == 1;
#pragma omp parallel num_threads(workspace_.threads()) if (!alone)
    {
      const Range draws = my_part_of(num_draws);
      for (std::int64_t i = draws.begin; i < draws.end; ++i) {
        const std::int64_t at = i * kDraw, count = std::min(kDraw, spec_.count - at);
        const T* residual_at = pass == Pass::kAdds ? residual + at : nullptr;
        if (count == kDraw) {
          drop<pass>(words, i, x + at, residual_at, y + at);
        } else {
          drop_first<pass>(words, i, x + at, residual_at, y + at, count);
        }
      }
    }
  }

  /// Drops values for which one call draws.
  template <Pass pass>
  [[gnu::always_inline]] void drop(const LayerWords& layer, std::int64_t draw, const T* x, const T* residual,
                                   T* y) const {
    WordVec words[LayerWords::kNumVectors];
    layer.draw(static_cast<std::uint32_t>(draw * LayerWords::kNumBlocks), words);
    const auto threshold = static_cast<std::uint16_t>(spec_.threshold());
    const float scale = spec_.scale();
    const auto drop_vector = [&](HalfVec draws, std::int64_t i) {
      const Vec from = read<Vec>(x + i),
                v = kept_values(draws, threshold, scale * (pass == Pass::kRelu ? relu(from) : from));
      write(y + i, pass == Pass::kAdds ? read<Vec>(residual + i) + as_stored<T>(v) : v);
    };
    for (std::int64_t i = 0; i < LayerWords::kNumVectors; ++i) {
      drop_vector(draws_in<0>(words[i]), 2 * i * kLanes);
      drop_vector(draws_in<1>(words[i]), (2 * i + 1) * kLanes);
    }
  }

  /// Drops the `count` values of the last call, which is not full.
  template <Pass pass>
  void drop_first(const LayerWords& layer, std::int64_t draw, const T* x, const T* residual, T* y,
                  std::int64_t count) const {
    T some_x[kDraw] = {}, some_residual[kDraw] = {}, some_y[kDraw];
    std::copy_n(x, count, some_x);
    if constexpr (pass == Pass::kAdds) std::copy_n(residual, count, some_residual);
    drop<pass>(layer, draw, some_x, some_residual, some_y);
    std::copy_n(some_y, count, y);
  }

  /// Drops values if neighbours share a draw.
  template <Pass pass>
  void run_together(const DrawKey& key, const T* x, const T* residual, T* y) const {
    const std::int64_t width = spec_.values_per_draw;
    in_parts(spec_.count, workspace_.threads(), [=, &key, this, scale = spec_.scale()](Range range) {
      for (std::int64_t at = range.begin; at < range.end;) {
        const std::int64_t draw = at / width, end = std::min(range.end, (draw + 1) * width);
        const float factor = is_dropped(key, draw) ? 0.0f : scale;
        for_lanes(at, end, [=]<typename V>(std::int64_t i, V) {
          const V from = read<V>(x + i), v = factor == 0 ? V{} : V(factor * (pass == Pass::kRelu ? relu(from) : from));
          write(y + i, pass == Pass::kAdds ? V(read<V>(residual + i) + as_stored<T>(v)) : v);
        });
        at = end;
      }
    });
  }

  bool is_dropped(const DrawKey& key, std::int64_t draw) const {
    const auto words = draw_words(key, spec_.layer, static_cast<std::uint32_t>(draw / kDrawsOfBlock));
    const auto place = static_cast<std::size_t>(draw % kDrawsOfBlock);
    const std::uint32_t word = words[place / 2], bits = place % 2 == 0 ? word & 0xffffu : word >> 16;
    return bits < spec_.threshold();
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
