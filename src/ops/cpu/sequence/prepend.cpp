/// A word before each sequence, on the CPU: copies.
#include "convoy/ops/prepend.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuPrepend final : public PrependOp {
 public:
  CpuPrepend(const PrependSpec& spec, const Workspace& workspace)
      : n_(spec.n), x_count_(spec.length * spec.width), width_(spec.width), workspace_(workspace) {}

  void forward(const void* x_data, const float* token, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t n = 0; n < n_; ++n) {
      T* to = y + n * (width_ + x_count_);
      for_lanes(0, width_, [=]<typename V>(std::int64_t c, V) { write(to + c, read<V>(token + c)); });
      std::copy_n(x + n * x_count_, x_count_, to + width_);
    }
  }

  void backward(const void* dy_data, void* dx_data, float* dtoken) override {
    const T* dy = values_at<T>(dy_data);
    const std::int64_t y_count = width_ + x_count_;
    if (dtoken != nullptr) {
      std::fill_n(dtoken, width_, 0.0f);
      for (std::int64_t n = 0; n < n_; ++n) {
        const T* from = dy + n * y_count;
        for_lanes(0, width_, [=]<typename V>(std::int64_t c, V) {
          write(dtoken + c, V(read<V>(dtoken + c) + read<V>(from + c)));
        });
      }
    }
    if (dx_data == nullptr) return;
    T* dx = values_at<T>(dx_data);
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t n = 0; n < n_; ++n) std::copy_n(dy + n * y_count + width_, x_count_, dx + n * x_count_);
  }

 private:
  std::int64_t n_, x_count_, width_;  ///< x_count_: number of values of one sequence of x
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<PrependOp> make_op(const PrependSpec& spec, const Resources& resources) {
  return make_stored<CpuPrepend, PrependOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
