/// Batch normalisation, ReLU and max pooling on the CPU: batch norm's passes, in which rows are normalised right before
/// their windows are compared, and a block's gradients are gathered right before they are summed or used.
/// Compiled without contraction to fused multiply-adds: the same bits as from the two operations one after the other.
#include "ops/cpu/normalisation/batch_norm_pooling.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/cpu/normalisation/batch_norm_backward.h"
#include "ops/cpu/normalisation/batch_norm_forward.h"
#include "ops/cpu/normalisation/batch_norm_rows.h"
#include "ops/cpu/normalisation/batch_norm_steps.h"
#include "ops/cpu/pooling/pooling_windows.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

static_assert(BatchNormSpec::kChannelGroup % kTile == 0);  // a row of RowLayout is one pixel: there is no tail

// --- Maxima -----------------------------------------------------------------------------------------------------

/// A vector of stored values as unsigned integers. The result of a ReLU is never negative, nor -0, so these integers
/// have the order of the values, with NaN above all.
template <typename T>
using BitsVec = std::conditional_t<std::is_same_v<T, float>, WordVec, PairVec>;
template <typename T>
inline constexpr std::int64_t kBitLanes = kVectorBytes / static_cast<std::int64_t>(sizeof(T));
template <typename T>
inline constexpr unsigned kInfinityBits = std::is_same_v<T, float> ? 0x7f800000u : 0x7f80u;

template <typename T>
[[gnu::always_inline]] inline BitsVec<T> read_bits(const T* p) {
  BitsVec<T> bits;
  std::memcpy(&bits, p, sizeof(bits));
  return bits;
}

/// Writes the largest of a window's values and its index in the window, the first in row-major order among equals, or
/// kNoWinner. bits_at(r, w) returns the values at row r of the window and column w of the image.
template <typename T, typename BitsAt>
[[gnu::always_inline]] inline void write_maximum(std::int64_t kernel, const Span& rows, const Span& columns,
                                                 const BitsAt& bits_at, T* y, std::uint8_t* winner) {
  using Bits = BitsVec<T>;
  using Lane = std::remove_cvref_t<decltype(Bits{}[0])>;
  Bits max{}, position{};
  for (std::int64_t r = rows.begin - rows.start; r < rows.end - rows.start; ++r) {
    for (std::int64_t w = columns.begin; w < columns.end; ++w) {
      const Bits bits = bits_at(r, w);
      position = bits > max ? Bits{} + static_cast<Lane>(r * kernel + w - columns.start) : position;
      max = bits > max ? bits : max;
    }
  }
  std::memcpy(y, &max, sizeof(max));
  const auto is_positive = (max > Bits{}) & (max <= Bits{} + static_cast<Lane>(kInfinityBits<T>));
  write_bytes(winner, is_positive ? position : Bits{} + Lane{BatchNormOp::kNoWinner});
}

// --- Gradients --------------------------------------------------------------------------------------------------

/// The gradient of the pooling's input, gathered block by block.
template <typename T>
struct WonGradients {
  const PoolingGeometry& geometry;
  const Range* windows_over_columns;  ///< (W)
  const T* dy;
  const std::uint8_t* winner;
  T* block;  ///< (kMaxRowsPerBlock, C): the calling thread's, small enough for a cache

  /// Gathers the gradients of pixels that are neighbours in memory, one part of a row after the other.
  void gather(const Range& pixels) const {
    const PoolingGeometry& g = geometry;
    T* to = block;
    for (std::int64_t begin = pixels.begin; begin < pixels.end;) {
      const std::int64_t row = begin / g.x.w, end = std::min((row + 1) * g.x.w, pixels.end);
      gather_part_of_row(row / g.x.h, row % g.x.h, {begin - row * g.x.w, end - row * g.x.w}, to);
      to += (end - begin) * g.x.c;
      begin = end;
    }
  }

  void gather_part_of_row(std::int64_t n, std::int64_t h, const Range& pixels, T* to) const {
    const PoolingGeometry& g = geometry;
    const Range rows = g.windows_over(h, g.y.h);
    for (std::int64_t w = pixels.begin; w < pixels.end; ++w, to += g.x.c) {
      const Range columns = windows_over_columns[w];
      for (std::int64_t c = 0; c < g.x.c; c += kVectorBytes) {
        const FourVecs sums = sum_of_windows(n, h, w, rows, columns, c);
        for (int i = 0; i < 4; ++i) write(to + c + i * kLanes, sums.vecs[i]);
      }
    }
  }

  struct FourVecs {
    Vec vecs[4];
  };

  /// The sum of dy over the windows that pixel (h, w) has won, from channel c on.
  [[gnu::always_inline]] FourVecs sum_of_windows(std::int64_t n, std::int64_t h, std::int64_t w, const Range& rows,
                                                 const Range& columns, std::int64_t c) const {
    const PoolingGeometry& g = geometry;
    FourVecs sums = {};
    for (std::int64_t p = rows.begin; p < rows.end; ++p) {
      for (std::int64_t q = columns.begin; q < columns.end; ++q) {
        const std::int64_t from = g.y_at(n, p, q) + c;
        const ByteRow winners = *reinterpret_cast<const ByteRowAt*>(winner + from);
        const IntVec position = IntVec{} + g.position(h, w, p, q) * kOfEachByte;
        [&]<int... i>(std::integer_sequence<int, i...>) {
          ((sums.vecs[i] += spread<i>(winners) == position ? read<Vec>(dy + from + i * kLanes) : Vec{}), ...);
        }
        (std::make_integer_sequence<int, 4>{});
      }
    }
    return sums;
  }
};

/// Sums g and g * (x - mean) over the calling thread's blocks.
template <typename T>
void sum_my_won_gradients(const WonGradients<T>& gradients, const T* x, const RowLayout& layout,
                          const AffineRow& affine, const ColumnSums<2>& sums) {
  if (omp_get_thread_num() == 0) clear_block(layout, layout.blocks, sums);  // the tail's
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    gradients.gather(layout.block(b));
    sum_block(layout, b, sums, PrefetchedArrays<T>{x}, [&]<typename V>(std::int64_t first_row, std::int64_t i, V) {
      return [x, block = gradients.block, begin = first_row * layout.width,
              column = affine.column<V>(i)](std::int64_t at) {
        const V g = read<V>(block + at - begin);
        return Terms<V, 2>{g, g * (read<V>(x + at) - column.mean)};
      };
    });
  }
}

/// Computes the calling thread's part of dx, as input_gradients_of_my_rows() does.
template <typename T>
void input_gradients_of_my_blocks(const WonGradients<T>& gradients, const T* x, T* dx, const RowLayout& layout,
                                  const AffineRow& affine, const SlopeRows<1>& slopes) {
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.end; b-- > blocks.begin;) {
    gradients.gather(layout.block(b));
    compute_rows(layout, layout.block(b), PrefetchedArrays<T>{x, dx}, [&]<typename V>(std::int64_t i, V) {
      return
          [x, dx, block = gradients.block, begin = layout.block(b).begin * layout.width, column = affine.column<V>(i),
           mean_g = read<V>(slopes.mean_g + i), slope = read<V>(slopes.slopes[0] + i)](std::int64_t at) {
            write(dx + at, input_gradient(V(read<V>(block + at - begin) - mean_g), read<V>(x + at), column, slope));
          };
    });
  }
}

/// Computes the calling thread's part of dx = g * scale.
template <typename T>
void inference_gradients_of_my_blocks(const WonGradients<T>& gradients, T* dx, const RowLayout& layout,
                                      const float* scales) {
  const Range blocks = my_part_of(layout.blocks);
  for (std::int64_t b = blocks.begin; b < blocks.end; ++b) {
    gradients.gather(layout.block(b));
    compute_rows(layout, layout.block(b), PrefetchedArrays<T>{dx}, [&]<typename V>(std::int64_t i, V) {
      return [dx, block = gradients.block, begin = layout.block(b).begin * layout.width,
              scale = read<V>(scales + i)](std::int64_t at) { write(dx + at, V(read<V>(block + at - begin) * scale)); };
    });
  }
}

template <typename T>
class CpuBatchNormMaxPool final : public BatchNormOp {
 public:
  CpuBatchNormMaxPool(const BatchNormSpec& spec, Workspace& workspace)
      : spec_(spec), layout_(spec.x), geometry_(*spec.pooling), workspace_(workspace) {
    for (std::int64_t w = 0; w < spec.x.w; ++w)
      windows_over_columns_.push_back(geometry_.windows_over(w, geometry_.y.w));
    workspace_.reserve(blocks_at() + workspace_.threads() * block_bytes());
  }

  void forward(const BatchNormForward& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      compute_statistics<T>(args.branches[0], spec_.epsilon, layout_, scratch.sums, scratch.totals, scratch.affines[0]);
#pragma omp barrier
      pool_my_rows(args, scratch.affines[0]);
    }
  }

  void forward_again(const BatchNormForward& args) override {
    pool_by(args, affine_of<BatchNormForward::Branch>);
  }

  void infer(const BatchNormForward& args) override {
    pool_by(args, [&](const auto& branch, std::int64_t c) { return running_affine(branch, c, spec_.epsilon); });
  }

  void backward(const BatchNormBackward& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
    const T* x = values_at<T>(args.branches[0].x);
    const AffineRow& affine = scratch.affines[0];
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines, affine_of<BatchNormBackward::Branch>);
#pragma omp barrier
      const WonGradients<T> gradients = my_gradients(args);
      sum_my_won_gradients(gradients, x, layout_, affine, scratch.sums);
#pragma omp barrier
      merge_my_gradients(layout_, scratch.sums, scratch.totals);
#pragma omp barrier
      finish_my_channels(args, layout_, scratch);
#pragma omp barrier
      input_gradients_of_my_blocks(gradients, x, values_at<T>(args.branches[0].dx), layout_, affine, scratch.slopes);
    }
  }

  void infer_backward(const BatchNormBackward& args) override {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines,
                         [&](const auto& branch, std::int64_t c) { return running_factor(branch, c, spec_.epsilon); });
#pragma omp barrier
      inference_gradients_of_my_blocks(my_gradients(args), values_at<T>(args.branches[0].dx), layout_,
                                       scratch.affines[0].scale);
    }
  }

 private:
  using Scratch = BatchNormScratch<1>;

  /// The offset of the threads' gathered blocks in scratch memory, after the part that all threads share.
  std::int64_t blocks_at() const {
    return round_up(Scratch::size_bytes(layout_), kCacheLineBytes);
  }
  std::int64_t block_bytes() const {
    return std::max(kMaxRowsPerBlock, geometry_.kernel * geometry_.x.w) * layout_.width *
           static_cast<std::int64_t>(sizeof(T));
  }
  T* my_block() const {
    return reinterpret_cast<T*>(workspace_.scratch() + blocks_at() + omp_get_thread_num() * block_bytes());
  }

  WonGradients<T> my_gradients(const BatchNormBackward& args) const {
    return {geometry_, windows_over_columns_.data(), values_at<T>(args.dy), args.winner, my_block()};
  }

  template <typename OfChannel>
  void pool_by(const BatchNormForward& args, const OfChannel& of_channel) const {
    const Scratch scratch(workspace_.scratch(), layout_);
#pragma omp parallel num_threads(workspace_.threads())
    {
      expand_my_branches(args, layout_, scratch.affines, of_channel);
#pragma omp barrier
      pool_my_rows(args, scratch.affines[0]);
    }
  }

  /// Computes the calling thread's rows of y and winner, from the end to the beginning, as compute_my_rows() does. Each
  /// row of x in their windows is normalised once, to row h % kernel of the calling thread's block.
  void pool_my_rows(const BatchNormForward& args, const AffineRow& affine) const {
    const PoolingGeometry& g = geometry_;
    const T* const x = values_at<T>(args.branches[0].x);
    T* const y = values_at<T>(args.y);
    const Range rows = my_part_of(g.y.n * g.y.h);
    std::int64_t done = g.x.n * g.x.h;  // the first row of x that is normalised
    for (std::int64_t row = rows.end; row-- > rows.begin;) {
      const std::int64_t n = row / g.y.h, p = row % g.y.h;
      const Span window = g.window(p, g.x.h);
      for (std::int64_t h = window.begin; h < window.end && n * g.x.h + h < done; ++h) normalise_row(n, h, x, affine);
      done = n * g.x.h + window.begin;
      pool_row(window, g.y_at(n, p, 0), y, args.winner);
    }
  }

  T* normalised_row(std::int64_t h) const {
    return my_block() + h % geometry_.kernel * geometry_.x.w * geometry_.x.c;
  }

  void normalise_row(std::int64_t n, std::int64_t h, const T* x, const AffineRow& affine) const {
    const PoolingGeometry& g = geometry_;
    const std::int64_t begin = (n * g.x.h + h) * g.x.w;
    compute_rows(layout_, {begin, begin + g.x.w}, PrefetchedArrays<T>{x}, [&]<typename V>(std::int64_t i, V) {
      return [x, to = normalised_row(h), from = begin * g.x.c, column = affine.column<V>(i)](std::int64_t at) {
        write(to + at - from, relu(normalised(read<V>(x + at), column)));
      };
    });
  }

  /// Computes the windows over these rows of x. Writes y and winner from index `to` on.
  void pool_row(const Span& window, std::int64_t to, T* y, std::uint8_t* winner) const {
    const PoolingGeometry& g = geometry_;
    const T* rows[MaxPoolOp::kMaxKernel];
    for (std::int64_t h = window.begin; h < window.end; ++h) rows[h - window.start] = normalised_row(h);
    for (std::int64_t q = 0; q < g.y.w; ++q) {
      const Span columns = g.window(q, g.x.w);
      for (std::int64_t c = 0; c < g.x.c; c += kBitLanes<T>, to += kBitLanes<T>)
        write_maximum<T>(
            g.kernel, window, columns,
            [&](std::int64_t r, std::int64_t w) { return read_bits(rows[r] + w * g.x.c + c); }, y + to, winner + to);
    }
  }

  BatchNormSpec spec_;
  RowLayout layout_;
  PoolingGeometry geometry_;
  std::vector<Range> windows_over_columns_;  ///< (W): found once, by divisions
  Workspace& workspace_;
};

}  // namespace

std::unique_ptr<BatchNormOp> make_batch_norm_pooling(const BatchNormSpec& spec, Workspace& workspace) {
  return make_stored<CpuBatchNormMaxPool, BatchNormOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
