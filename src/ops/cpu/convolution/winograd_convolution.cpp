/// Squares of 4x4 pixels are transformed one block at a time, multiplied by the transformed filters while they are in
/// the cache, and transformed into squares of 2x2 pixels. One thread computes each block, and each value in an order
/// that does not depend on the block: the same bits on any number of threads.
#include <algorithm>
#include <cstddef>
#include <vector>

#include <omp.h>

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/convolution/winograd.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/small_products.h"

namespace convoy::ops::cpu {

namespace {

using namespace winograd;

/// The layouts of filters that are transformed from w (K,3,3,C).
enum class Filters {
  kForward,       ///< (C,K) for each position
  kBackwardInput  ///< (K,C), of filters turned by half a turn: dx is their convolution with dy
};

class WinogradConvolution final : public ConvolutionDirection {
 public:
  WinogradConvolution(const Squares& squares, Filters filters, Workspace& workspace)
      : squares_(squares),
        filters_(filters),
        workspace_(workspace),
        results_(squares.to.c),
        block_(block_of(squares)),
        zeros_(static_cast<std::size_t>(squares.from.c)) {
    workspace_.reserve(workspace_.threads() * (inputs_stride() + outputs_stride()) * kPositions * kFloatBytes);
  }

  void load_weights(const void* w) override {
    if (weights_.data() == nullptr)
      weights_ = Buffer(workspace_.device(), kPositions * squares_.from.c * squares_.to.c * kFloatBytes);
    const std::int64_t groups = weight_channels() / kLanes;  // of channels, and as many filters
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t filters = 0; filters < num_filters(); filters += kLanes)
      for (std::int64_t g = 0; g < groups; ++g) load_filters(static_cast<const float*>(w), filters, g * kLanes);
  }

  std::vector<Buffer*> packed_weights() override {
    return {&weights_};
  }

  void run(const void* from, void* to) override {
    const std::int64_t blocks = (squares_.count() + block_ - 1) / block_;
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t b = 0; b < blocks; ++b) {
      const Range block = {b * block_, std::min((b + 1) * block_, squares_.count())};
      transform_inputs(static_cast<const float*>(from), block);
      multiply_block(block.end - block.begin);
      transform_outputs(block, static_cast<float*>(to));
    }
  }

 private:
  static constexpr std::int64_t kStep = 8;  // squares that a product computes at once

  // The number of squares that are multiplied at once: few enough for their values to stay in the cache and for every
  // thread to have some; larger if more weights are read for each block.
  static std::int64_t block_of(const Squares& squares) {
    constexpr std::int64_t kWantedBlocks = 16, kMost = 64;
    const std::int64_t weights = squares.from.c * squares.to.c, least = std::clamp(weights / 2048, kStep, kMost),
                       most = std::clamp(weights / 512, kMost, 2 * kMost);
    return round_up(std::clamp(squares.count() / kWantedBlocks, least, most), kStep);
  }

  // The number of floats of one position, with an additional cache line so that positions do not share a cache's sets.
  std::int64_t inputs_stride() const {
    return block_ * squares_.from.c + kStep * 2;
  }
  std::int64_t outputs_stride() const {
    return block_ * squares_.to.c + kStep * 2;
  }

  // The calling thread's squares (positions, block, C); its results (positions, panels of K) follow them.
  float* inputs() const {
    return reinterpret_cast<float*>(workspace_.scratch()) +
           omp_get_thread_num() * (inputs_stride() + outputs_stride()) * kPositions;
  }
  float* outputs() const {
    return inputs() + inputs_stride() * kPositions;
  }
  float* weights(std::int64_t position) const {
    return weights_.floats() + position * squares_.from.c * squares_.to.c;
  }
  float* weight(std::int64_t position, std::int64_t from, std::int64_t to) const {
    return weights(position) + results_.offset(squares_.from.c, to) + from * results_.width;
  }
  std::int64_t num_filters() const {
    return filters_ == Filters::kForward ? squares_.to.c : squares_.from.c;
  }
  std::int64_t weight_channels() const {
    return filters_ == Filters::kForward ? squares_.from.c : squares_.to.c;
  }

  // Computes G g G^T of kLanes filters and channels.
  void load_filters(const float* w, std::int64_t first_filter, std::int64_t first_channel) const {
    alignas(64) float columns[kPositions][kLanes][kLanes];  // as forward multiplies them: by channel, then filter
    for (std::int64_t f = 0; f < kLanes; ++f) {
      Vec transformed[kPositions];
      transform_filter(w + (first_filter + f) * 9 * weight_channels() + first_channel, transformed);
      for (std::int64_t i = 0; i < kPositions; ++i) {
        if (filters_ == Filters::kBackwardInput) {
          write(weight(i, first_filter + f, first_channel), transformed[i]);
        } else {
          for (std::int64_t c = 0; c < kLanes; ++c) columns[i][c][f] = transformed[i][c];
        }
      }
    }
    if (filters_ == Filters::kBackwardInput) return;
    for (std::int64_t i = 0; i < kPositions; ++i)
      for (std::int64_t c = 0; c < kLanes; ++c)
        write(weight(i, first_channel + c, first_filter), read<Vec>(columns[i][c]));
  }

  // Computes G g G^T of kLanes channels of one filter.
  [[gnu::always_inline]] void transform_filter(const float* g, Vec (&transformed)[kPositions]) const {
    const auto transform = [](Vec g0, Vec g1, Vec g2, auto&& set) {
      const Vec sum = g0 + g2;
      set(0, g0), set(1, Vec(0.5f * (sum + g1))), set(2, Vec(0.5f * (sum - g1))), set(3, g2);
    };
    const auto weight_at = [&](std::int64_t i) {
      return read<Vec>(g + (filters_ == Filters::kForward ? i : 8 - i) * weight_channels());
    };
    Vec rows[kRows][3];
    for (std::int64_t s = 0; s < 3; ++s)
      transform(weight_at(s), weight_at(3 + s), weight_at(6 + s), [&](int r, Vec value) { rows[r][s] = value; });
    for (std::int64_t r = 0; r < kRows; ++r)
      transform(rows[r][0], rows[r][1], rows[r][2], [&](int s, Vec value) { transformed[r * kRows + s] = value; });
  }

  // Computes B^T d B of a block of squares.
  void transform_inputs(const float* from, const Range& block) const {
    float* const values = inputs();
    squares_.for_each(block, [&](std::int64_t square, const Squares::Place& place) {
      const SquarePixels<kRows> pixels(from, squares_.from,
                                       {place.sample, place.row - squares_.padding, place.column - squares_.padding},
                                       zeros_.data());
      for (std::int64_t c = 0; c < squares_.from.c; c += kLanes) {
        Vec d[kRows][kRows];
#pragma GCC unroll 4
        for (std::int64_t s = 0; s < kRows; ++s) {
          const Vec d0 = pixels.read_channels(0, s, c), d1 = pixels.read_channels(1, s, c),
                    d2 = pixels.read_channels(2, s, c), d3 = pixels.read_channels(3, s, c);
          d[0][s] = row_of_data<0>(d0, d1, d2, d3), d[1][s] = row_of_data<1>(d0, d1, d2, d3);
          d[2][s] = row_of_data<2>(d0, d1, d2, d3), d[3][s] = row_of_data<3>(d0, d1, d2, d3);
        }
        float* to = values + square * squares_.from.c + c;
        for (const auto& row : d) to = write_row_of_data(row, to, inputs_stride());
      }
    });
  }

  // Multiplies (squares,C) by (C,K) for each position. The number of rows is rounded up to a multiple of kStep; the
  // additional rows contain earlier values, and their results are not read.
  void multiply_block(std::int64_t count) const {
    const std::int64_t channels = squares_.from.c, width = results_.width;
    const float* const a = inputs();
    float* const c = outputs();
    for (std::int64_t i = 0; i < kPositions; ++i)
      for (std::int64_t p = 0; p < results_.count(); ++p)
        multiply<FloatFactors>({.a = {a + i * inputs_stride(), channels, 1},
                                .b = weights(i) + p * channels * width,
                                .b_stride = width,
                                .c = c + i * outputs_stride() + p * block_ * width,
                                .rows = round_up(count, kStep),
                                .inner = channels,
                                .columns = width});
  }

  // Computes A^T m A of a block of squares.
  void transform_outputs(const Range& block, float* to) const {
    const Shape& shape = squares_.to;
    const float* const values = outputs();
    const std::int64_t stride = outputs_stride();
    squares_.for_each(block, [&](std::int64_t square, const Squares::Place& place) {
      const bool has_right = place.column + 1 < shape.w, has_lower = place.row + 1 < shape.h;
      float* const pixel = to + ((place.sample * shape.h + place.row) * shape.w + place.column) * shape.c;
      for (std::int64_t k = 0; k < shape.c; k += kLanes) {
        const float* const m = values + results_.offset(block_, k) + square * results_.width;
        Vec upper[kRows], lower[kRows];
#pragma GCC unroll 4
        for (std::int64_t s = 0; s < kRows; ++s) {
          const Vec m0 = read<Vec>(m + s * stride), m1 = read<Vec>(m + (kRows + s) * stride),
                    m2 = read<Vec>(m + (2 * kRows + s) * stride), m3 = read<Vec>(m + (3 * kRows + s) * stride);
          upper[s] = m0 + m1 + m2, lower[s] = m1 - m2 + m3;
        }
        write_result_row(upper, has_right, shape.c, pixel + k);
        if (has_lower) write_result_row(lower, has_right, shape.c, pixel + shape.w * shape.c + k);
      }
    });
  }

  [[gnu::always_inline]] static void write_result_row(const Vec (&m)[kRows], bool has_right, std::int64_t channels,
                                                      float* to) {
    write(to, Vec(m[0] + m[1] + m[2]));
    if (has_right) write(to + channels, Vec(m[1] - m[2] + m[3]));
  }

  Squares squares_;
  Filters filters_;
  Workspace& workspace_;
  Panels results_;
  std::int64_t block_;
  std::vector<float> zeros_;  ///< a pixel beyond the border
  Buffer weights_;            ///< (positions, panels of (C,K)); made when they are first loaded
};

}  // namespace

std::unique_ptr<ConvolutionDirection> make_winograd_forward(const ConvolutionSpec& spec, Workspace& workspace) {
  if (!is_faster(spec)) return nullptr;
  return std::make_unique<WinogradConvolution>(Squares{spec.x, spec.y(), spec.padding}, Filters::kForward, workspace);
}

std::unique_ptr<ConvolutionDirection> make_winograd_backward_input(const ConvolutionSpec& spec, Workspace& workspace) {
  if (!is_faster(spec)) return nullptr;
  return std::make_unique<WinogradConvolution>(Squares{spec.y(), spec.x, 2 - spec.padding}, Filters::kBackwardInput,
                                               workspace);
}

}  // namespace convoy::ops::cpu
