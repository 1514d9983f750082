/// Pooling on the CPU: own loops, vectors along the channels. Backward gathers, so no two threads write one value.
#include "convoy/ops/pooling.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/simd.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

[[gnu::always_inline]] inline void write_byte(std::uint8_t* p, std::int32_t v) {
  *p = static_cast<std::uint8_t>(v);
}
[[gnu::always_inline]] inline void write_byte(std::uint8_t* p, IntVec v) {
  store_bytes(p, v);
}

template <typename V>
[[gnu::always_inline]] inline auto read_bytes(const std::uint8_t* p) {
  if constexpr (std::is_same_v<V, float>) {
    return std::int32_t{*p};
  } else {
    return load_bytes(p);
  }
}

/// A window's pixels inside the image along one axis: begin, ..., end - 1, from `start`, which may lie outside.
struct Span {
  std::int64_t start, begin, end;
};

struct Geometry {
  explicit Geometry(const PoolingSpec& spec)
      : x(spec.x), y(spec.y()), kernel(spec.kernel), stride(spec.stride), padding(spec.padding) {}

  Shape x, y;
  std::int64_t kernel, stride, padding;

  std::int64_t x_at(std::int64_t n, std::int64_t h, std::int64_t w) const { return ((n * x.h + h) * x.w + w) * x.c; }
  std::int64_t y_at(std::int64_t n, std::int64_t p, std::int64_t q) const { return ((n * y.h + p) * y.w + q) * y.c; }

  /// The pixels of window `index` along an axis of `size` pixels.
  Span window(std::int64_t index, std::int64_t size) const {
    const std::int64_t start = index * stride - padding;
    return {start, std::max<std::int64_t>(start, 0), std::min(start + kernel, size)};
  }

  /// The windows that cover pixel `index` along an axis with `count` windows:
  /// p * stride - padding <= index < p * stride - padding + kernel.
  Range windows_over(std::int64_t index, std::int64_t count) const {
    const std::int64_t first = std::max<std::int64_t>(index + padding - kernel + stride, 0) / stride;
    return {first, std::min((index + padding) / stride + 1, count)};
  }
};

/// body(n, p, q) for every pixel of an (n,h,w) grid; threads take rows.
template <typename Body>
void for_my_pixels(const Shape& grid, int threads, Body&& body) {
#pragma omp parallel num_threads(threads)
  {
    const Range rows = my_part_of(grid.n * grid.h);
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      for (std::int64_t q = 0; q < grid.w; ++q) body(row / grid.h, row % grid.h, q);
    }
  }
}

template <typename T>
class CpuMaxPool final : public MaxPoolOp {
 public:
  CpuMaxPool(const PoolingSpec& spec, const Workspace& workspace) : geometry_(spec), workspace_(workspace) {}

  void forward(const void* x_data, void* y_data, std::uint8_t* winner) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    for_my_pixels(geometry_.y, workspace_.threads(), [&](std::int64_t n, std::int64_t p, std::int64_t q) {
      const Geometry& g = geometry_;
      const Span rows = g.window(p, g.x.h), columns = g.window(q, g.x.w);
      const std::int64_t to = g.y_at(n, p, q);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V best = read<V>(x + g.x_at(n, rows.begin, columns.begin) + c);
        auto place = zeros(best) +
                     static_cast<std::int32_t>((rows.begin - rows.start) * g.kernel + columns.begin - columns.start);
        for (std::int64_t h = rows.begin; h < rows.end; ++h) {
          for (std::int64_t w = columns.begin; w < columns.end; ++w) {
            const V v = read<V>(x + g.x_at(n, h, w) + c);
            const auto wins = (v > best) | (v != v);  // NaN wins, and is never beaten
            best = wins ? v : best;
            place =
                wins ? zeros(best) + static_cast<std::int32_t>((h - rows.start) * g.kernel + w - columns.start) : place;
          }
        }
        write(y + to + c, best);
        write_byte(winner + to + c, place);
      });
    });
  }

  void backward(const void* dy_data, const std::uint8_t* winner, void* dx_data) override {
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    for_my_pixels(geometry_.x, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      const Geometry& g = geometry_;
      const Range rows = g.windows_over(h, g.y.h), columns = g.windows_over(w, g.y.w);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t p = rows.begin; p < rows.end; ++p) {
          for (std::int64_t q = columns.begin; q < columns.end; ++q) {
            const std::int64_t from = g.y_at(n, p, q) + c;
            const auto place =
                static_cast<std::int32_t>((h - (p * g.stride - g.padding)) * g.kernel + w - (q * g.stride - g.padding));
            sum += read_bytes<V>(winner + from) == place ? read<V>(dy + from) : V{};
          }
        }
        write(dx + g.x_at(n, h, w) + c, sum);
      });
    });
  }

 private:
  static std::int32_t zeros(float) { return 0; }
  [[gnu::always_inline]] static inline IntVec zeros(const Vec&) { return IntVec{}; }

  Geometry geometry_;
  const Workspace& workspace_;
};

template <typename T>
class CpuAveragePool final : public AveragePoolOp {
 public:
  CpuAveragePool(const PoolingSpec& spec, const Workspace& workspace) : geometry_(spec), workspace_(workspace) {}

  void forward(const void* x_data, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    for_my_pixels(geometry_.y, workspace_.threads(), [&](std::int64_t n, std::int64_t p, std::int64_t q) {
      const Geometry& g = geometry_;
      const Span rows = g.window(p, g.x.h), columns = g.window(q, g.x.w);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t h = rows.begin; h < rows.end; ++h) {
          for (std::int64_t w = columns.begin; w < columns.end; ++w) sum += read<V>(x + g.x_at(n, h, w) + c);
        }
        write(y + g.y_at(n, p, q) + c, V(sum / pixels_in(rows, columns)));
      });
    });
  }

  void backward(const void* dy_data, void* dx_data) override {
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    for_my_pixels(geometry_.x, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      const Geometry& g = geometry_;
      const Range rows = g.windows_over(h, g.y.h), columns = g.windows_over(w, g.y.w);
      for_lanes(0, g.x.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t p = rows.begin; p < rows.end; ++p) {
          for (std::int64_t q = columns.begin; q < columns.end; ++q) {
            sum += read<V>(dy + g.y_at(n, p, q) + c) / pixels_in(g.window(p, g.x.h), g.window(q, g.x.w));
          }
        }
        write(dx + g.x_at(n, h, w) + c, sum);
      });
    });
  }

 private:
  static float pixels_in(const Span& rows, const Span& columns) {
    return static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
  }

  Geometry geometry_;
  const Workspace& workspace_;
};

template <typename T>
class CpuGlobalAveragePool final : public GlobalAveragePoolOp {
 public:
  CpuGlobalAveragePool(const GlobalPoolingSpec& spec, const Workspace& workspace) : x_(spec.x), workspace_(workspace) {}

  void forward(const void* x_data, void* y_data) override {
    const T* x = values_at<T>(x_data);
    T* y = values_at<T>(y_data);
    for_my_pixels({x_.n, 1, 1, x_.c}, workspace_.threads(), [&](std::int64_t n, std::int64_t, std::int64_t) {
      const T* image = x + n * x_.h * x_.w * x_.c;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) {
        V sum{};
        for (std::int64_t i = 0; i < x_.h * x_.w; ++i) sum += read<V>(image + i * x_.c + c);
        write(y + n * x_.c + c, V(sum / static_cast<float>(x_.h * x_.w)));
      });
    });
  }

  void backward(const void* dy_data, void* dx_data) override {
    const T* dy = values_at<T>(dy_data);
    T* dx = values_at<T>(dx_data);
    for_my_pixels({x_.n, x_.h, x_.w, x_.c}, workspace_.threads(), [&](std::int64_t n, std::int64_t h, std::int64_t w) {
      T* to = dx + ((n * x_.h + h) * x_.w + w) * x_.c;
      for_lanes(0, x_.c, [&]<typename V>(std::int64_t c, V) {
        write(to + c, V(read<V>(dy + n * x_.c + c) / static_cast<float>(x_.h * x_.w)));
      });
    });
  }

 private:
  Shape x_;
  const Workspace& workspace_;
};

}  // namespace

std::unique_ptr<MaxPoolOp> make_max_pool(const PoolingSpec& spec, const Workspace& workspace) {
  return make_stored<CpuMaxPool, MaxPoolOp>(spec, workspace);
}

std::unique_ptr<AveragePoolOp> make_average_pool(const PoolingSpec& spec, const Workspace& workspace) {
  return make_stored<CpuAveragePool, AveragePoolOp>(spec, workspace);
}

std::unique_ptr<GlobalAveragePoolOp> make_global_average_pool(const GlobalPoolingSpec& spec,
                                                              const Workspace& workspace) {
  return make_stored<CpuGlobalAveragePool, GlobalAveragePoolOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
