/// A forward convolution of dy; where the stride is not 1, its result is spread out.
#include "ops/cpu/pointwise_convolution.h"

#include <cstddef>
#include <cstring>

#include "ops/cpu/dnnl_direction.h"

namespace convoy::ops::cpu {

namespace {

/// Each stride-th pixel of each stride-th row of x, from the first on: those that y is made of.
class ReadPixels {
 public:
  explicit ReadPixels(const ConvolutionSpec& spec)
      : x_(spec.x),
        rows_(spec.y().h),
        columns_(spec.y().w),
        stride_(spec.stride),
        pixel_bytes_(x_.c * size_of(spec.type)) {}

  std::int64_t size_bytes() const { return x_.n * rows_ * columns_ * pixel_bytes_; }

  /// (N,P,Q,C) -> (N,H,W,C), zeros elsewhere
  void scatter(const void* pixels, void* x, int threads) const {
    const auto* from = static_cast<const std::byte*>(pixels);
    auto* to = static_cast<std::byte*>(x);
    const std::int64_t row_bytes = x_.w * pixel_bytes_;
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t x_row = 0; x_row < x_.n * x_.h; ++x_row) {
      std::memset(to + x_row * row_bytes, 0, static_cast<std::size_t>(row_bytes));
      const std::int64_t h = x_row % x_.h;
      if (h % stride_ != 0) continue;
      const std::int64_t row = x_row / x_.h * rows_ + h / stride_;
      for (std::int64_t column = 0; column < columns_; ++column)
        std::memcpy(to + x_row * row_bytes + column * stride_ * pixel_bytes_,
                    from + (row * columns_ + column) * pixel_bytes_, static_cast<std::size_t>(pixel_bytes_));
    }
  }

 private:
  Shape x_;
  std::int64_t rows_, columns_, stride_, pixel_bytes_;
};

/// The convolution of dy that gives dx, or its pixels that y was made of.
ConvolutionSpec turned(const ConvolutionSpec& spec) {
  return {.x = spec.y(), .num_filters = spec.x.c, .kernel = 1, .type = spec.type};
}

/// w (K,C) as the weights (C,K) of that convolution.
dnnl::memory::desc turned_weights(const ConvolutionSpec& spec) {
  const std::int64_t channels = spec.x.c, filters = spec.num_filters;
  return {{channels, filters, 1, 1}, dnnl_type(spec.type), {1, channels, channels, channels}};
}

class PointwiseBackwardInput final : public ConvolutionDirection {
 public:
  PointwiseBackwardInput(const ConvolutionSpec& spec, DnnlRuntime& runtime)
      : is_whole_(spec.stride == 1),
        pixels_(spec),
        workspace_(runtime.workspace()),
        product_(turned(spec), runtime, turned_weights(spec)),
        pixels_offset_(round_up(product_.scratch_bytes(), 64)) {
    if (!is_whole_) workspace_.reserve(pixels_offset_ + pixels_.size_bytes());
  }

  void load_weights(const void* w) override { product_.load_weights(w); }

  void run(const void* dy, void* dx) override {
    if (is_whole_) return product_.run(dy, dx);
    std::byte* const pixels = workspace_.scratch() + pixels_offset_;
    product_.run(dy, pixels);
    pixels_.scatter(pixels, dx, workspace_.threads());
  }

 private:
  bool is_whole_;
  ReadPixels pixels_;
  Workspace& workspace_;
  DnnlDirection<DnnlForward> product_;
  std::int64_t pixels_offset_;  ///< in scratch memory
};

}  // namespace

bool is_pointwise(const ConvolutionSpec& spec) {
  return spec.kernel == 1 && spec.padding == 0 && spec.groups == 1;
}

std::unique_ptr<ConvolutionDirection> make_pointwise_backward_input(const ConvolutionSpec& spec, DnnlRuntime& runtime) {
  if (!is_pointwise(spec) || !has_dnnl([&] { return describe_forward(turned(spec), runtime.engine()); }))
    return nullptr;
  return std::make_unique<PointwiseBackwardInput>(spec, runtime);
}

}  // namespace convoy::ops::cpu
