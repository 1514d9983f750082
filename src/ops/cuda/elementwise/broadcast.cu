/// Vectors that are added to rows or multiply them, on a GPU: bound by memory.
#include <memory>

#include "convoy/ops/broadcast.h"

#include "ops/cuda/launch.h"
#include "ops/cuda/linear/linear_kernels.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/widths.h"

namespace convoy::ops::cuda {

namespace {

struct Extents {
  std::int64_t count;             ///< R C
  std::int64_t num_columns;       ///< C
  std::int64_t values_of_vector;  ///< number of values of x that belong to one vector
};

/// Grid: over R C / kWidth. Reads x and writes y once; v comes from the caches. y may be x.
template <typename T, typename V, int kWidth, BroadcastKind kKind>
__global__ void __launch_bounds__(kThreads) combine(Extents extents, const T* x, const V* v, T* y) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= extents.count) return;
  const std::int64_t vector = extents.values_of_vector == extents.count ? 0 : begin / extents.values_of_vector;
  float values[kWidth], with[kWidth];
  load<kWidth>(x + begin, values);
  load<kWidth>(v + vector * extents.num_columns + begin % extents.num_columns, with);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] = kKind == BroadcastKind::kAdd ? values[i] + with[i] : values[i] * with[i];
  store<kWidth>(values, y + begin);
}

/// Computes dv if each vector belongs to one row: dy, or dy * factors if these are not null, with the bits of
/// column_sum(), whose sum of one value is never -0. Grid: over R C / kWidth.
template <typename T, typename V, int kWidth>
__global__ void __launch_bounds__(kThreads)
    differentiate_single_rows(std::int64_t count, const T* dy, const T* factors, V* dv) {
  const std::int64_t begin = my_index() * kWidth;
  if (begin >= count) return;
  float values[kWidth], with[kWidth] = {};
  load<kWidth>(dy + begin, values);
  if (factors != nullptr) load<kWidth>(factors + begin, with);
#pragma unroll
  for (int i = 0; i < kWidth; ++i) values[i] = __fmaf_rn(values[i], factors == nullptr ? 1.0f : with[i], 0.0f);
  store<kWidth>(values, dv + begin);
}

/// V is the type of v: float or T.
template <typename T, typename V, int kWidth>
class CudaBroadcast final : public BroadcastOp {
 public:
  CudaBroadcast(const BroadcastSpec& spec, Context& context) : spec_(spec), context_(context) {
    if (!has_single_rows()) context.reserve_scratch(column_sum_scratch_bytes(sum_spec()));
  }

  void forward(const void* x, const void* v, void* y) override {
    constexpr auto kAdd = BroadcastKind::kAdd, kMultiply = BroadcastKind::kMultiply;
    const Extents extents{count(), spec_.num_columns, count() / spec_.num_vectors};
    launch(spec_.kind == kAdd ? combine<T, V, kWidth, kAdd> : combine<T, V, kWidth, kMultiply>,
           shape_for(count() / kWidth), context_.stream(), extents, x, v, y);
  }

  // dv comes first, since dx may be dy.
  void backward(const BroadcastBackward& args) override {
    if (args.dv != nullptr) differentiate_vectors(args);
    if (args.dx != nullptr) forward(args.dy, args.v, args.dx);
  }

 private:
  std::int64_t count() const { return spec_.num_rows * spec_.num_columns; }
  bool has_single_rows() const { return spec_.num_rows == spec_.num_vectors; }
  ColumnSumSpec sum_spec() const {
    return {.num_rows = spec_.num_rows / spec_.num_vectors,
            .num_columns = spec_.num_columns,
            .type = spec_.type,
            .num_matrices = spec_.num_vectors,
            .sum_type = spec_.vector_type};
  }

  void differentiate_vectors(const BroadcastBackward& args) {
    const void* factors = spec_.kind == BroadcastKind::kMultiply ? args.x : nullptr;
    if (has_single_rows()) {
      launch(differentiate_single_rows<T, V, kWidth>, shape_for(count() / kWidth), context_.stream(), count(), args.dy,
             factors, args.dv);
    } else {
      column_sum(sum_spec(),
                 {.matrix = args.dy,
                  .factors = factors,
                  .sums = args.dv,
                  .scratch = reinterpret_cast<float*>(context_.scratch())},
                 context_);
    }
  }

  BroadcastSpec spec_;
  Context& context_;
};

}  // namespace

template <>
std::unique_ptr<BroadcastOp> make_op(const BroadcastSpec& spec, const Resources& resources) {
  std::unique_ptr<BroadcastOp> op;
  with_type(spec.type, [&]<typename T>(T*) {
    with_width<T>(spec.num_columns, [&]<int kWidth>(Width<kWidth>) {
      if (spec.vector_type == DataType::kFloat32)
        op = std::make_unique<CudaBroadcast<T, float, kWidth>>(spec, resources.context);
      else
        op = std::make_unique<CudaBroadcast<T, T, kWidth>>(spec, resources.context);
    });
  });
  return op;
}

}  // namespace convoy::ops::cuda
