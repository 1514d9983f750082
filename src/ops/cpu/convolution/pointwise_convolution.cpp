/// Computes dx as a forward convolution of dy. If the stride is not 1, its result is spread out.
#include <cstddef>
#include <cstring>
#include <vector>

#include "ops/cpu/convolution/dnnl_direction.h"

namespace convoy::ops::cpu {

namespace {

/// Writes `pixels` (N,P,Q,C), dx at the pixels that y depends on, to dx (N,H,W,C), with zeros elsewhere.
void spread_out(const ConvolutionSpec& spec, const std::byte* pixels, std::byte* dx, int threads) {
  const Shape& x = spec.x;
  const std::int64_t rows = spec.y().h, columns = spec.y().w, pixel_bytes = x.c * size_of(spec.type);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t row = 0; row < x.n * x.h; ++row) {
    std::byte* const to = dx + row * x.w * pixel_bytes;
    std::memset(to, 0, static_cast<std::size_t>(x.w * pixel_bytes));
    const std::int64_t h = row % x.h;
    if (h % spec.stride != 0) continue;
    const std::byte* const from = pixels + (row / x.h * rows + h / spec.stride) * columns * pixel_bytes;
    for (std::int64_t q = 0; q < columns; ++q)
      std::memcpy(to + q * spec.stride * pixel_bytes, from + q * pixel_bytes, static_cast<std::size_t>(pixel_bytes));
  }
}

/// The convolution of dy that gives dx at the pixels that y depends on.
ConvolutionSpec convolution_of_dy(const ConvolutionSpec& spec) {
  return {.x = spec.y(), .num_filters = spec.x.c, .kernel = 1, .type = spec.type};
}

/// The layout by which w (K,C) is read as the weights (C,K) of convolution_of_dy().
dnnl::memory::desc weights_for_dy(const ConvolutionSpec& spec) {
  const std::int64_t channels = spec.x.c, filters = spec.num_filters;
  return {{channels, filters, 1, 1}, dnnl_type(spec.type), {1, channels, channels, channels}};
}

class PointwiseBackwardInput final : public ConvolutionDirection {
 public:
  PointwiseBackwardInput(const ConvolutionSpec& spec, DnnlRuntime& runtime)
      : spec_(spec),
        workspace_(runtime.workspace()),
        product_(convolution_of_dy(spec), runtime, weights_for_dy(spec)),
        pixels_offset_(round_up(product_.scratch_bytes(), 64)) {
    const std::int64_t size_bytes = convolution_of_dy(spec).y().count() * size_of(spec.type);
    if (spec.stride > 1) workspace_.reserve(pixels_offset_ + size_bytes);
  }

  void load_weights(const void* w) override { product_.load_weights(w); }
  std::vector<Buffer*> packed_weights() override { return product_.packed_weights(); }

  void run(const void* dy, void* dx) override {
    if (spec_.stride == 1) return product_.run(dy, dx);
    std::byte* const pixels = workspace_.scratch() + pixels_offset_;
    product_.run(dy, pixels);
    spread_out(spec_, pixels, static_cast<std::byte*>(dx), workspace_.threads());
  }

 private:
  ConvolutionSpec spec_;
  Workspace& workspace_;
  DnnlDirection<DnnlForward> product_;
  std::int64_t pixels_offset_;  ///< offset in scratch memory of dx at the pixels that y depends on
};

}  // namespace

bool is_pointwise(const ConvolutionSpec& spec) {
  return spec.kernel == 1 && spec.padding == 0 && spec.groups == 1;
}

std::unique_ptr<ConvolutionDirection> make_pointwise_backward_input(const ConvolutionSpec& spec, DnnlRuntime& runtime) {
  if (!is_pointwise(spec) || !has_dnnl([&] { return describe_forward(convolution_of_dy(spec), runtime.engine()); }))
    return nullptr;
  return std::make_unique<PointwiseBackwardInput>(spec, runtime);
}

}  // namespace convoy::ops::cpu
