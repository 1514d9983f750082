/// Slices of a micro-batch on their way into float32 convolutions and out of them.
#include "ops/cpu/widened_convolution.h"

#include <algorithm>

#include "ops/cpu/storage.h"
#include "ops/cpu/widening.h"

namespace convoy::ops::cpu {

namespace {

constexpr std::int64_t kSliceFloats = 1 << 20;  // of x and y together, unless one sample has more: 4 MiB

/// The convolution in float32 of the largest equal slices whose x and y fit.
ConvolutionSpec slice_of(ConvolutionSpec spec) {
  const std::int64_t samples = spec.x.n, floats_a_sample = (spec.x.count() + spec.y().count()) / samples;
  spec.x.n = std::clamp(kSliceFloats / floats_a_sample, std::int64_t{1}, samples);
  while (samples % spec.x.n != 0) --spec.x.n;
  spec.type = DataType::kFloat32;
  return spec;
}

class WidenedConvolution final : public ConvolutionOp {
 public:
  WidenedConvolution(const ConvolutionSpec& slice, std::int64_t num_slices, std::unique_ptr<ConvolutionOp> float32,
                     Widening& widening)
      : float32_(std::move(float32)),
        widening_(widening),
        num_slices_(num_slices),
        x_count_(slice.x.count()),
        y_count_(slice.y().count()),
        w_count_(slice.weight_count()) {
    const std::int64_t part = num_slices_ > 1 ? w_count_ : 0;
    widening_.reserve(std::max(padded(x_count_) + padded(y_count_) + part, w_count_));
  }

  void load_weights(const void* w) override {
    widening_.widen(w, widening_.operands(), w_count_);
    float32_->load_weights(widening_.operands());  // packs them: they need not stay
  }

  void forward(const void* x, void* y) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(x) + i * x_count_, wide_x(), x_count_);
      float32_->forward(wide_x(), wide_y());
      widening_.round(wide_y(), values_at<Bf16>(y) + i * y_count_, y_count_);
    }
  }

  void backward_input(const void* dy, void* dx) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(dy) + i * y_count_, wide_y(), y_count_);
      float32_->backward_input(wide_y(), wide_x());
      widening_.round(wide_x(), values_at<Bf16>(dx) + i * x_count_, x_count_);
    }
  }

  void backward_weight(const void* x, const void* dy, float* dw) override {
    for (std::int64_t i = 0; i < num_slices_; ++i) {
      widening_.widen(values_at<Bf16>(x) + i * x_count_, wide_x(), x_count_);
      widening_.widen(values_at<Bf16>(dy) + i * y_count_, wide_y(), y_count_);
      float32_->backward_weight(wide_x(), wide_y(), i == 0 ? dw : dw_part());
      if (i > 0) widening_.add(dw_part(), dw, w_count_);
    }
  }

 private:
  static std::int64_t padded(std::int64_t count) { return round_up(count, 64 / kFloatBytes); }

  float* wide_x() const { return widening_.operands(); }
  float* wide_y() const { return wide_x() + padded(x_count_); }
  float* dw_part() const { return wide_y() + padded(y_count_); }

  std::unique_ptr<ConvolutionOp> float32_;
  Widening& widening_;
  std::int64_t num_slices_, x_count_, y_count_, w_count_;
};

}  // namespace

std::unique_ptr<ConvolutionOp> make_widened_convolution(
    const ConvolutionSpec& spec, Widening& widening,
    const std::function<std::unique_ptr<ConvolutionOp>(const ConvolutionSpec&)>& make_float32) {
  const ConvolutionSpec slice = slice_of(spec);
  return std::make_unique<WidenedConvolution>(slice, spec.x.n / slice.x.n, make_float32(slice), widening);
}

}  // namespace convoy::ops::cpu
