/// Pooling on the CPU by our own loops, with vectors along the channels. Backward gathers, so no two threads write the
/// same value.
#include "convoy/ops/pooling.h"

#include <memory>

#include "ops/average_axis.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/pooling/pooling_windows.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// Calls body(n, p, q) for every pixel of an (n,h,w) grid. Threads take rows.
template <typename Body>
void for_my_pixels(const Shape& grid, int threads, Body&& body) {
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t row = 0; row < grid.n * grid.h; ++row) {
    for (std::int64_t q = 0; q < grid.w; ++q) body(row / grid.h, row % grid.h, q);
  }
}

template <typename T>
class CpuMaxPool final : public MaxPoolOp {
 public:
  CpuMaxPool(const PoolingSpec& spec, const Workspace& workspace) : geometry_(spec), workspace_(workspace) {}

  void forward(const void* x, void* y, std::uint8_t* winner) override {
    for_my_pixels(geometry_.y, workspace_.threads(), [&](std::int64_t n, std::int64_t p, std::int64_t q) {
      const PoolingGeometry& g = geometry_;
      const Span rows = g.window(p, g.x.h), columns = g.window(q, g.x.w);
      const std::int64_t to = g.y_at(n, p, q);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V best = read<V>(values_at<T>(x) + g.x_at(n, rows.begin, columns.begin) + c);
        auto position = zeros(best) +
                        static_cast<std::int32_t>((rows.begin - rows.start) * g.kernel + columns.begin - columns.start);
        for (std::int64_t h = rows.begin; h < rows.end; ++h) {
          for (std::int64_t w = columns.begin; w < columns.end; ++w) {
            const V v = read<V>(values_at<T>(x) + g.x_at(n, h, w) + c);
            const auto wins = (v > best) | (v != v);  // NaN wins, and is never beaten
            best = wins ? v : best;
            position = wins ? zeros(best) + static_cast<std::int32_t>((h - rows.start) * g.kernel + w - columns.start)
                            : position;
          }
        }
        write(values_at<T>(y) + to + c, best);
        write_bytes(winner + to + c, position);
      });
    });
  }

  void backward(const void* dy, const std::uint8_t* winner, void* dx) override {
    for_my_pixels(geometry_.x, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      const PoolingGeometry& g = geometry_;
      const Range rows = g.windows_over(h, g.y.h), columns = g.windows_over(w, g.y.w);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t p = rows.begin; p < rows.end; ++p) {
          for (std::int64_t q = columns.begin; q < columns.end; ++q) {
            const std::int64_t from = g.y_at(n, p, q) + c;
            const std::int32_t position = g.position(h, w, p, q);
            sum += read_bytes<V>(winner + from) == position ? read<V>(values_at<T>(dy) + from) : V{};
          }
        }
        write(values_at<T>(dx) + g.x_at(n, h, w) + c, sum);
      });
    });
  }

 private:
  static std::int32_t zeros(float) { return 0; }
  [[gnu::always_inline]] static inline IntVec zeros(const Vec&) { return IntVec{}; }

  PoolingGeometry geometry_;
  const Workspace& workspace_;
};

template <typename T, bool kAdaptive>
class CpuAveragePool final : public AveragePoolOp {
 public:
  CpuAveragePool(const PoolingSpec& spec, const Workspace& workspace)
      : geometry_(spec), rows_(Axis::rows(spec)), columns_(Axis::columns(spec)), workspace_(workspace) {}

  void forward(const void* x, void* y) override {
    for_my_pixels(geometry_.y, workspace_.threads(), [&](std::int64_t n, std::int64_t p, std::int64_t q) {
      const PoolingGeometry& g = geometry_;
      const Indices rows = rows_.window(p), columns = columns_.window(q);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t h = rows.begin; h < rows.end; ++h) {
          for (std::int64_t w = columns.begin; w < columns.end; ++w)
            sum += read<V>(values_at<T>(x) + g.x_at(n, h, w) + c);
        }
        write(values_at<T>(y) + g.y_at(n, p, q) + c, V(sum / counted(p, q)));
      });
    });
  }

  void backward(const void* dy, void* dx) override {
    for_my_pixels(geometry_.x, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      const PoolingGeometry& g = geometry_;
      const Indices rows = rows_.windows_over(h), columns = columns_.windows_over(w);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t p = rows.begin; p < rows.end; ++p) {
          for (std::int64_t q = columns.begin; q < columns.end; ++q) {
            sum += read<V>(values_at<T>(dy) + g.y_at(n, p, q) + c) / counted(p, q);
          }
        }
        write(values_at<T>(dx) + g.x_at(n, h, w) + c, sum);
      });
    });
  }

 private:
  using Axis = AverageAxis<std::int64_t, kAdaptive>;
  using Indices = typename Axis::Indices;

  float counted(std::int64_t p, std::int64_t q) const {
    return static_cast<float>(rows_.counted(p) * columns_.counted(q));
  }

  PoolingGeometry geometry_;
  Axis rows_, columns_;
  const Workspace& workspace_;
};

template <typename T>
using CpuSlidingAverage = CpuAveragePool<T, false>;
template <typename T>
using CpuAdaptiveAverage = CpuAveragePool<T, true>;

template <typename T>
class CpuGlobalAveragePool final : public GlobalAveragePoolOp {
 public:
  CpuGlobalAveragePool(const GlobalPoolingSpec& spec, const Workspace& workspace) : x_(spec.x), workspace_(workspace) {}

  void forward(const void* x, void* y) override {
    for_my_pixels(Shape::vectors(x_.n, x_.c), workspace_.threads(), [&](std::int64_t n, std::int64_t, std::int64_t) {
      const T* image = values_at<T>(x) + n * x_.h * x_.w * x_.c;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t i = 0; i < x_.h * x_.w; ++i) sum += read<V>(image + i * x_.c + c);
        write(values_at<T>(y) + n * x_.c + c, V(sum / static_cast<float>(x_.h * x_.w)));
      });
    });
  }

  void backward(const void* dy, void* dx) override {
    for_my_pixels(x_, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      T* to = values_at<T>(dx) + ((n * x_.h + h) * x_.w + w) * x_.c;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) {
        write(to + c, V(read<V>(values_at<T>(dy) + n * x_.c + c) / static_cast<float>(x_.h * x_.w)));
      });
    });
  }

 private:
  Shape x_;
  const Workspace& workspace_;
};

}  // namespace

template <>
std::unique_ptr<MaxPoolOp> make_op(const PoolingSpec& spec, const Resources& resources) {
  return make_stored<CpuMaxPool, MaxPoolOp>(spec, resources.workspace);
}

template <>
std::unique_ptr<AveragePoolOp> make_op(const PoolingSpec& spec, const Resources& resources) {
  if (spec.is_adaptive()) return make_stored<CpuAdaptiveAverage, AveragePoolOp>(spec, resources.workspace);
  return make_stored<CpuSlidingAverage, AveragePoolOp>(spec, resources.workspace);
}

template <>
std::unique_ptr<GlobalAveragePoolOp> make_op(const GlobalPoolingSpec& spec, const Resources& resources) {
  return make_stored<CpuGlobalAveragePool, GlobalAveragePoolOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
