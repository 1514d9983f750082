/// Dropout on a GPU: one pass over memory; the random words cost less than it does.
#include <memory>

#include "convoy/ops/dropout.h"

#include "ops/cuda/launch.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"
#include "ops/draw_words.h"

namespace convoy::ops::cuda {

namespace {

struct Rule {
  std::int64_t count;
  std::uint64_t layer;
  std::uint32_t threshold;
  float scale;
  std::int64_t values_per_draw;
};

/// Draw i of a block of words, as DropoutOp defines it.
__device__ std::uint32_t draw(const DrawnWords& words, int i) {
  const std::uint32_t word = i < 4 ? (i < 2 ? words[0] : words[1]) : (i < 6 ? words[2] : words[3]);
  return i % 2 == 0 ? word & 0xffffu : word >> 16;
}

/// The operation before the dropout (kRelu) or after it (kAdds), in the same pass.
enum class Pass { kPlain, kAdds, kRelu };

/// The value that is left of x.
template <Pass kPass>
__device__ float kept(const Rule& rule, bool is_dropped, float x) {
  return is_dropped || (kPass == Pass::kRelu && 0.0f > x) ? 0.0f : __fmul_rn(rule.scale, x);
}

/// Adds the residual (kAdds) to the values rounded to T, as if they had been stored, and writes the result.
template <typename T, int kWidth, Pass kPass>
__device__ void finish(const T* residual, float (&v)[kWidth], T* y) {
  if constexpr (kPass == Pass::kAdds) {
    float sum[kWidth];
    load<kWidth>(residual, sum);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) v[i] = sum[i] + to_float(from_float<T>(v[i]));
  }
  store<kWidth>(v, y);
}

/// Grid: over count / kWidth. A thread's values are a part of a block of words, or some blocks.
template <typename T, int kWidth, Pass kPass>
__global__ void __launch_bounds__(kThreads) drop(Rule rule, const DrawKey* key, const T* x, const T* residual, T* y) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= rule.count) return;
  float v[kWidth];
  load<kWidth>(x + begin, v);
  DrawnWords words;
  const int first = kWidth % kDrawsOfBlock == 0 ? 0 : static_cast<int>(begin % kDrawsOfBlock);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) {
    if (i % kDrawsOfBlock == 0)
      words = draw_words(*key, rule.layer, static_cast<std::uint32_t>((begin + i) / kDrawsOfBlock));
    v[i] = kept<kPass>(rule, draw(words, first + i % kDrawsOfBlock) < rule.threshold, v[i]);
  }
  finish<T, kWidth, kPass>(residual + begin, v, y + begin);
}

/// Grid: over count / kWidth. All of a thread's values share a draw.
template <typename T, int kWidth, Pass kPass>
__global__ void __launch_bounds__(kThreads)
    drop_together(Rule rule, const DrawKey* key, const T* x, const T* residual, T* y) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= rule.count) return;
  const std::int64_t index = begin / rule.values_per_draw;
  const DrawnWords words = draw_words(*key, rule.layer, static_cast<std::uint32_t>(index / kDrawsOfBlock));
  const bool is_dropped = draw(words, static_cast<int>(index % kDrawsOfBlock)) < rule.threshold;
  float v[kWidth];
  load<kWidth>(x + begin, v);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) v[i] = kept<kPass>(rule, is_dropped, v[i]);
  finish<T, kWidth, kPass>(residual + begin, v, y + begin);
}

/// Grid: over count / kWidth. dx may be dy.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) differentiate(Rule rule, const T* y, const T* dy, T* dx) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= rule.count) return;
  float v[kWidth], g[kWidth];
  load<kWidth>(y + begin, v);
  load<kWidth>(dy + begin, g);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) g[i] = v[i] <= 0.0f ? 0.0f : __fmul_rn(rule.scale, g[i]);
  store<kWidth>(g, dx + begin);
}

template <typename T, int kWidth>
class CudaDropout final : public DropoutOp {
 public:
  CudaDropout(const DropoutSpec& spec, const Context& context)
      : rule_{.count = spec.count,
              .layer = spec.layer,
              .threshold = spec.threshold(),
              .scale = spec.scale(),
              .values_per_draw = spec.values_per_draw},
        context_(context) {}

  void run(const DrawKey* key, const void* x, void* y) override { run_as<Pass::kPlain>(key, x, nullptr, y); }
  void run_and_add(const DrawKey* key, const void* x, const void* residual, void* y) override {
    run_as<Pass::kAdds>(key, x, residual, y);
  }
  void relu_and_run(const DrawKey* key, const void* x, void* y) override { run_as<Pass::kRelu>(key, x, nullptr, y); }
  void backward_of_relu(const void* y, const void* dy, void* dx) override {
    start(differentiate<T, kWidth>, y, dy, dx);
  }

 private:
  template <Pass kPass>
  void run_as(const DrawKey* key, const void* x, const void* residual, void* y) const {
    start(rule_.values_per_draw > 1 ? drop_together<T, kWidth, kPass> : drop<T, kWidth, kPass>, key, x, residual, y);
  }
  template <typename Kernel, typename... Arguments>
  void start(Kernel* kernel, const Arguments&... arguments) const {
    launch(kernel, shape_for(rule_.count / kWidth), context_.stream(), rule_, arguments...);
  }

  Rule rule_;
  const Context& context_;
};

}  // namespace

template <>
std::unique_ptr<DropoutOp> make_op(const DropoutSpec& spec, const Resources& resources) {
  // A wide access must contain the values of one draw, or those of one block of words.
  const std::int64_t neighbours = spec.values_per_draw > 1 ? spec.values_per_draw : spec.count;
  return make_wide<CudaDropout, DropoutOp>(neighbours, spec, resources.context);
}

}  // namespace convoy::ops::cuda
