/// Parameter-free shortcuts on the CPU: strided copies, bound by memory.
#include "convoy/ops/shortcut.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/floats.h"
#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

class CpuShortcut final : public ShortcutOp {
 public:
  CpuShortcut(const ShortcutSpec& spec, const Workspace& workspace)
      : x_(spec.x), y_(spec.y()), stride_(spec.stride), before_(spec.channels_before), workspace_(workspace) {}

  void forward(const void* x_data, void* y_data) override {
    const float* x = floats(x_data);
    float* y = floats(y_data);
    const std::int64_t behind = y_.c - x_.c - before_;
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      float* to = std::fill_n(y + y_at, before_, 0.0f);
      to = std::copy_n(x + x_at, x_.c, to);
      std::fill_n(to, behind, 0.0f);
    });
  }

  void backward(const void* dy_data, void* dx_data) override {
    const float* dy = floats(dy_data);
    float* dx = floats(dx_data);
    for_my_pixels([=, this](std::int64_t x_at, std::int64_t y_at) {
      const float* from = dy + y_at + before_;
      float* to = dx + x_at;
#pragma omp simd
      for (std::int64_t c = 0; c < x_.c; ++c) to[c] += from[c];
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
  return std::make_unique<CpuShortcut>(spec, workspace);
}

}  // namespace convoy::ops::cpu
