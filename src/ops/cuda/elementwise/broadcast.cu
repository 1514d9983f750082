/// A vector that is added to every row or multiplies it, on a GPU: bound by memory.
#include <memory>

#include "convoy/ops/broadcast.h"

#include "ops/cuda/launch.h"
#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Extents {
  std::int64_t num_rows, num_columns;
};

/// Grid: over R C / kWidth. Reads x and writes y once; v comes from the caches. y may be x.
template <typename T, int kWidth, BroadcastKind kKind>
__global__ void __launch_bounds__(kThreads) combine(Extents extents, const T* x, const float* v, T* y) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= extents.num_rows * extents.num_columns) return;
  float values[kWidth], with[kWidth];
  load<kWidth>(x + begin, values);
  load<kWidth>(v + begin % extents.num_columns, with);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] = kKind == BroadcastKind::kAdd ? values[i] + with[i] : values[i] * with[i];
  store<kWidth>(values, y + begin);
}

template <typename T, int kWidth>
class CudaBroadcast final : public BroadcastOp {
 public:
  CudaBroadcast(const BroadcastSpec& spec, Context& context) : spec_(spec), context_(context) {
    context.reserve_scratch(column_sum_scratch_bytes(sum_spec()));
  }

  void forward(const void* x, const float* v, void* y) override {
    constexpr auto kAdd = BroadcastKind::kAdd, kMultiply = BroadcastKind::kMultiply;
    launch(spec_.kind == kAdd ? combine<T, kWidth, kAdd> : combine<T, kWidth, kMultiply>,
           shape_for(spec_.num_rows * spec_.num_columns / kWidth), context_.stream(),
           Extents{spec_.num_rows, spec_.num_columns}, x, v, y);
  }

  // The sums come first, since dx may be dy.
  void backward(const BroadcastBackward& args) override {
    if (args.dv != nullptr)
      column_sum(sum_spec(),
                 {.matrix = args.dy,
                  .factors = spec_.kind == BroadcastKind::kMultiply ? args.x : nullptr,
                  .sums = args.dv,
                  .scratch = reinterpret_cast<float*>(context_.scratch())},
                 context_);
    if (args.dx != nullptr) forward(args.dy, args.v, args.dx);
  }

 private:
  ColumnSumSpec sum_spec() const {
    return {.num_rows = spec_.num_rows, .num_columns = spec_.num_columns, .type = spec_.type};
  }

  BroadcastSpec spec_;
  Context& context_;
};

}  // namespace

template <>
std::unique_ptr<BroadcastOp> make_op(const BroadcastSpec& spec, const Resources& resources) {
  return make_wide<CudaBroadcast, BroadcastOp>(spec.num_columns, spec, resources.context);
}

}  // namespace convoy::ops::cuda
