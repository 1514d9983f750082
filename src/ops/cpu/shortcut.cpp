/// Parameter-free shortcuts on the CPU: strided copies, bound by memory.
#include "convoy/ops/shortcut.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuShortcut final : public ShortcutOp {
 public:
  CpuShortcut(const ShortcutSpec& spec, const Workspace& workspace)
      : x_(spec.x), y_(spec.y()), stride_(spec.stride), before_(spec.channels_before), workspace_(workspace) {}

  void forward(const void* x_data, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    const std::int64_t behind = y_.c - x_.c - before_;
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      T* to = std::fill_n(y + y_at, before_, T{});
      to = std::copy_n(x + x_at, x_.c, to);
      std::fill_n(to, behind, T{});
    });
  }

  void backward(const void* dy_data, void* dx_data) override {
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      const T* from = dy + y_at + before_;
      T* to = dx + x_at;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) { write(to + c, V(read<V>(to + c) + read<V>(from + c))); });
    });
  }

 private:
  /// Calls with the places in x and y of every pixel of y; threads take rows of pixels.
  template <typename Body>
  void for_my_pixels(Body&& body) const {
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range rows = my_part_of(y_.n * y_.h);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t n = row / y_.h, p = row % y_.h;
        const std::int64_t x_row = ((n * x_.h + p * stride_) * x_.w) * x_.c, y_row = row * y_.w * y_.c;
        for (std::int64_t q = 0; q < y_.w; ++q) body(x_row + q * stride_ * x_.c, y_row + q * y_.c);
      }
    }
  }

  Shape x_, y_;
  std::int64_t stride_, before_;
  const Workspace& workspace_;
};

}  // namespace

std::unique_ptr<ShortcutOp> make_shortcut(const ShortcutSpec& spec, const Workspace& workspace) {
  return make_stored<CpuShortcut, ShortcutOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
