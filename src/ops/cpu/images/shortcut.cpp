/// Parameter-free shortcuts on the CPU: strided copies, bound by memory.
#include "convoy/ops/shortcut.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuShortcut final : public ShortcutOp {
 public:
  CpuShortcut(const ShortcutSpec& spec, const Workspace& workspace)
      : x_(spec.x), y_(spec.y()), stride_(spec.stride), before_(spec.channels_before), workspace_(workspace) {}

  void forward(const void* x, void* y) override {
    const std::int64_t after = y_.c - x_.c - before_;
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      T* to = std::fill_n(values_at<T>(y) + y_at, before_, T{});
      to = std::copy_n(values_at<T>(x) + x_at, x_.c, to);
      std::fill_n(to, after, T{});
    });
  }

  void backward(const void* dy, void* dx) override {
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      const T* from = values_at<T>(dy) + y_at + before_;
      T* to = values_at<T>(dx) + x_at;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) { write(to + c, V(read<V>(to + c) + read<V>(from + c))); });
    });
  }

 private:
  /// Calls body with the positions in x and y of every pixel of y. Threads take rows of pixels.
  template <typename Body>
  void for_my_pixels(Body&& body) const {
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t row = 0; row < y_.n * y_.h; ++row) {
      const std::int64_t n = row / y_.h, p = row % y_.h;
      const std::int64_t x_row = ((n * x_.h + p * stride_) * x_.w) * x_.c, y_row = row * y_.w * y_.c;
      for (std::int64_t q = 0; q < y_.w; ++q) body(x_row + q * stride_ * x_.c, y_row + q * y_.c);
    }
  }

  Shape x_, y_;
  std::int64_t stride_, before_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<ShortcutOp> make_op(const ShortcutSpec& spec, const Resources& resources) {
  return make_stored<CpuShortcut, ShortcutOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
