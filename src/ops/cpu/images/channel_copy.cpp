/// Copies of channels on the CPU: loops over rows of pixels, bound by memory.
#include "convoy/ops/channel_copy.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuChannelCopy final : public ChannelCopyOp {
 public:
  CpuChannelCopy(const ChannelCopySpec& spec, const Workspace& workspace)
      : spec_(spec), y_(spec.y()), workspace_(workspace) {}

  void forward(const void* x, void* y) override {
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t row = 0; row < y_.n * y_.h; ++row)
      copy_row(values_at<T>(x) + (row / y_.h * spec_.x.h + row % y_.h * spec_.stride) * x_row(),
               values_at<T>(y) + row * y_row());
  }

  void backward(const void* dy, const void* addend, void* dx) override {
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t row = 0; row < spec_.x.n * spec_.x.h; ++row) {
      const std::int64_t n = row / spec_.x.h, h = row % spec_.x.h;
      const bool is_copied = h % spec_.stride == 0;
      give_row(is_copied ? values_at<T>(dy) + (n * y_.h + h / spec_.stride) * y_row() : nullptr,
               addend == nullptr ? nullptr : values_at<T>(addend) + row * x_row(), values_at<T>(dx) + row * x_row());
    }
  }

 private:
  std::int64_t x_row() const {
    return spec_.x.w * spec_.x.c;
  }
  std::int64_t y_row() const {
    return y_.w * y_.c;
  }

  void copy_row(const T* x, T* y) const {
    std::int64_t done = 0;
    for (std::int64_t q = 0; q < y_.w; ++q) {
      const std::int64_t run = q * y_.c + spec_.y_first;
      if (!spec_.keeps_rest) std::fill(y + done, y + run, T{});
      std::copy_n(x + q * spec_.stride * spec_.x.c + spec_.x_first, spec_.count, y + run);
      done = run + spec_.count;
    }
    if (!spec_.keeps_rest) std::fill(y + done, y + y_row(), T{});
  }

  /// Writes a row of dx. dy is null if forward does not copy this row.
  void give_row(const T* dy, const T* addend, T* dx) const {
    std::int64_t done = 0;
    for (std::int64_t q = 0; dy != nullptr && q < y_.w; ++q) {
      const std::int64_t run = q * spec_.stride * spec_.x.c + spec_.x_first;
      give_rest(addend, dx, done, run);
      give_run(dy + q * y_.c + spec_.y_first, addend == nullptr ? nullptr : addend + run, dx + run);
      done = run + spec_.count;
    }
    give_rest(addend, dx, done, x_row());
  }

  void give_run(const T* dy, const T* addend, T* dx) const {
    if (addend == nullptr) {
      std::copy_n(dy, spec_.count, dx);
    } else {
      for_lanes(0, spec_.count,
                [&]<typename V>(std::int64_t c, V) { write(dx + c, V(read<V>(addend + c) + read<V>(dy + c))); });
    }
  }

  static void give_rest(const T* addend, T* dx, std::int64_t begin, std::int64_t end) {
    if (addend == nullptr) {
      std::fill(dx + begin, dx + end, T{});
    } else if (addend != dx) {
      std::copy(addend + begin, addend + end, dx + begin);
    }
  }

  ChannelCopySpec spec_;
  Shape y_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<ChannelCopyOp> make_op(const ChannelCopySpec& spec, const Resources& resources) {
  return make_stored<CpuChannelCopy, ChannelCopyOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
