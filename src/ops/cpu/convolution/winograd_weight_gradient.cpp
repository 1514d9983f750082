/// The sum over squares is divided into parts that follow from the shape alone, each computed by one thread. A part is
/// a range of the squares, for all 4x4 positions, or for one row of them if all sums together would not fit the cache.
/// It transforms one block of squares at a time, and multiplies the squares while they are in the cache.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <omp.h>

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/convolution/winograd.h"
#include "ops/cpu/onednn/dnnl_parts.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/small_products.h"

namespace convoy::ops::cpu {

namespace {

using namespace winograd;

class WinogradWeightGradient final : public ConvolutionWeightGradient {
 public:
  WinogradWeightGradient(const ConvolutionSpec& spec, Workspace& workspace)
      : squares_{spec.x, spec.y(), spec.padding},
        workspace_(workspace),
        channels_(spec.x.c),
        filters_(spec.num_filters, 4),
        parts_of_range_(sum_count() * kFloatBytes > kMaxSumBytes ? kRows : 1),
        ranges_(std::clamp(squares_.count() / kBlock, std::int64_t{1}, kWantedParts / parts_of_range_)),
        zeros_(static_cast<std::size_t>(std::max(spec.x.c, spec.num_filters))) {
    workspace_.reserve((ranges_ * sum_count() + workspace_.threads() * thread_count()) * kFloatBytes);
  }

  void run(const void* x, const void* dy, float* dw) override {
    const auto *const from_x = static_cast<const float*>(x), *const from_dy = static_cast<const float*>(dy);
    const int threads = workspace_.threads();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t part = 0; part < ranges_ * parts_of_range_; ++part)
      sum_part(from_x, from_dy, part / parts_of_range_, part % parts_of_range_);
    add_in_order(sums(0), sums(1), sum_count(), ranges_ - 1, sum_count(), threads);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t k = 0; k < squares_.to.c; ++k) write_filter(k, dw + k * 9 * squares_.from.c);
  }

 private:
  static constexpr std::int64_t kBlock = 64;  // squares that are multiplied at once: few enough to stay in the cache
  static constexpr std::int64_t kMaxSumBytes = 1 << 19;

  // The numbers of floats of one position: of x (panels of C), of dy (squares,K), and of their product (panels of C, K
  // rows). x and dy have an additional cache line, so that positions do not share a cache's sets.
  std::int64_t x_stride() const {
    return kBlock * squares_.from.c + 16;
  }
  std::int64_t dy_stride() const {
    return kBlock * squares_.to.c + 16;
  }
  std::int64_t product_count() const {
    return squares_.to.c * squares_.from.c;
  }
  std::int64_t sum_count() const {
    return kPositions * product_count();
  }
  std::int64_t part_positions() const {
    return kPositions / parts_of_range_;
  }
  std::int64_t thread_count() const {
    return part_positions() * (x_stride() + dy_stride());
  }

  float* sums(std::int64_t range) const {
    return reinterpret_cast<float*>(workspace_.scratch()) + range * sum_count();
  }
  float* my_x() const {
    return sums(ranges_) + omp_get_thread_num() * thread_count();
  }
  float* my_dy() const {
    return my_x() + part_positions() * x_stride();
  }

  void sum_part(const float* x, const float* dy, std::int64_t range, std::int64_t part) const {
    if (parts_of_range_ == 1) return sum_rows<0, 1, 2, 3>(x, dy, range);
    if (part == 0) sum_rows<0>(x, dy, range);
    if (part == 1) sum_rows<1>(x, dy, range);
    if (part == 2) sum_rows<2>(x, dy, range);
    if (part == 3) sum_rows<3>(x, dy, range);
  }

  template <std::int64_t first, std::int64_t... others>
  void sum_rows(const float* x, const float* dy, std::int64_t range) const {
    const Range squares = part_of(squares_.count(), range, ranges_);
    for (std::int64_t begin = squares.begin; begin < squares.end; begin += kBlock) {
      const Range block = {begin, std::min(begin + kBlock, squares.end)};
      squares_.for_each(block, [&](std::int64_t square, const Squares::Place& place) {
        transform_x<first, others...>(x, place, square);
        transform_dy<first, others...>(dy, place, square);
      });
      add_products(block.end - begin, begin > squares.begin ? Earlier::kAdded : Earlier::kOverwritten,
                   sums(range) + first * kRows * product_count());
    }
  }

  // Computes rows of B^T x B.
  template <std::int64_t... rows>
  void transform_x(const float* x, const Squares::Place& place, std::int64_t square) const {
    const SquarePixels<kRows> pixels(
        x, squares_.from, {place.sample, place.row - squares_.padding, place.column - squares_.padding}, zeros_.data());
    for (std::int64_t c = 0; c < squares_.from.c; c += kLanes) {
      Vec d[sizeof...(rows)][kRows];
#pragma GCC unroll 4
      for (std::int64_t s = 0; s < kRows; ++s) {
        const Vec d0 = pixels.read_channels(0, s, c), d1 = pixels.read_channels(1, s, c),
                  d2 = pixels.read_channels(2, s, c), d3 = pixels.read_channels(3, s, c);
        std::size_t r = 0;
        ((d[r++][s] = row_of_data<rows>(d0, d1, d2, d3)), ...);
      }
      float* to = my_x() + channels_.offset(kBlock, c) + square * channels_.width;
      for (const auto& row : d) to = write_row_of_data(row, to, x_stride());
    }
  }

  // Computes rows of A dy A^T.
  template <std::int64_t... rows>
  void transform_dy(const float* dy, const Squares::Place& place, std::int64_t square) const {
    const SquarePixels<2> pixels(dy, squares_.to, place, zeros_.data());
    for (std::int64_t k = 0; k < squares_.to.c; k += kLanes) {
      const Vec dy00 = pixels.read_channels(0, 0, k), dy01 = pixels.read_channels(0, 1, k),
                dy10 = pixels.read_channels(1, 0, k), dy11 = pixels.read_channels(1, 1, k);
      float* to = my_dy() + filters_.offset(kBlock, k) + square * filters_.width;
      ((to = write_row_of_gradient(row_of_gradient<rows>(dy00, dy10), row_of_gradient<rows>(dy01, dy11), to,
                                   dy_stride())),
       ...);
    }
  }

  // sum [+]= dy^T x: (K,squares) (squares,C) for each position of a part.
  void add_products(std::int64_t count, Earlier earlier, float* sum) const {
    const std::int64_t width = channels_.width, rows = filters_.width;
    for (std::int64_t i = 0; i < part_positions(); ++i, sum += product_count())
      for (std::int64_t p = 0; p < channels_.count(); ++p)
        for (std::int64_t f = 0; f < filters_.count(); ++f)
          multiply<FloatFactors>({.a = {my_dy() + i * dy_stride() + f * kBlock * rows, 1, rows},
                                  .b = my_x() + i * x_stride() + p * kBlock * width,
                                  .b_stride = width,
                                  .c = sum + (p * filters_.columns + f * rows) * width,
                                  .rows = rows,
                                  .inner = count,
                                  .columns = width,
                                  .c_values = earlier});
  }

  // Writes G^T m G of one filter.
  void write_filter(std::int64_t filter, float* dw) const {
    for (std::int64_t c = 0; c < squares_.from.c; c += kLanes) {
      const float* const m = sums(0) + channels_.offset(squares_.to.c, c) + filter * channels_.width;
      const auto transform = [](Vec m0, Vec m1, Vec m2, Vec m3, auto&& set) {
        const Vec even = 0.5f * (m1 + m2);
        set(0, Vec(m0 + even)), set(1, Vec(0.5f * (m1 - m2))), set(2, Vec(even + m3));
      };
      Vec rows[3][kRows];
      for (std::int64_t s = 0; s < kRows; ++s) {
        const auto at = [&](std::int64_t r) { return read<Vec>(m + (r * kRows + s) * product_count()); };
        transform(at(0), at(1), at(2), at(3), [&](int r, Vec value) { rows[r][s] = value; });
      }
      for (std::int64_t r = 0; r < 3; ++r)
        transform(rows[r][0], rows[r][1], rows[r][2], rows[r][3],
                  [&](int s, Vec value) { write(dw + (r * 3 + s) * squares_.from.c + c, value); });
    }
  }

  Squares squares_;
  Workspace& workspace_;
  Panels channels_, filters_;
  std::int64_t parts_of_range_, ranges_;
  std::vector<float> zeros_;  ///< a pixel beyond the border
};

}  // namespace

std::unique_ptr<ConvolutionWeightGradient> make_winograd_weight_gradient(const ConvolutionSpec& spec,
                                                                         Workspace& workspace) {
  if (!is_faster(spec)) return nullptr;
  return std::make_unique<WinogradWeightGradient>(spec, workspace);
}

}  // namespace convoy::ops::cpu
