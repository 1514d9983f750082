/// A batch norm's forward as a factor and a summand a channel.
#include "ops/cuda/element.h"
#include "ops/cuda/launch.h"
#include "ops/cuda/scale_and_shift.h"

namespace convoy::ops::cuda {

namespace {

constexpr int kThreads = 256;

template <typename T>
struct Rows {
  const float *gamma, *beta, *mean, *inv_std;
  T *scale, *shift;
  std::int64_t num_channels;
};

/// Grid ceil(C / 256), blocks of 256. Moves 16 bytes in and 2 values out a channel.
template <typename T>
__global__ __launch_bounds__(kThreads) void scale_and_shift_kernel(Rows<T> rows) {
  const std::int64_t c = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (c >= rows.num_channels) return;
  const T scale = from_float<T>(rows.gamma[c] * rows.inv_std[c]);
  rows.scale[c] = scale;
  rows.shift[c] = from_float<T>(__fmaf_rn(-rows.mean[c], to_float(scale), rows.beta[c]));
}

}  // namespace

void compute_scale_and_shift(const NormalisedInput& in, const ScaleAndShift& out, const Context& context) {
  with_type(out.type, [&](auto* tag) {
    using T = std::remove_pointer_t<decltype(tag)>;
    const Rows<T> rows{
        in.gamma,        in.beta, in.mean, in.inv_std, static_cast<T*>(out.scale), static_cast<T*>(out.shift),
        out.num_channels};
    const LaunchShape shape = {dim3(static_cast<unsigned>(ceil_div(out.num_channels, kThreads))), dim3(kThreads)};
    launch(&scale_and_shift_kernel<T>, shape, context.stream(), rows);
  });
}

}  // namespace convoy::ops::cuda
