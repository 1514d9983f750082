/// Embeddings on a GPU: bound by memory. Backward sorts the words by their tokens and cuts them into segments of a
/// fixed number of words, however often a token occurs.
#include <algorithm>
#include <memory>
#include <vector>

#include "convoy/ops/embedding.h"

#include "ops/check_spec.h"
#include "ops/cuda/image_extents.h"
#include "ops/cuda/resources.h"
#include "ops/cuda/sequence/sort_words.h"
#include "ops/cuda/widths.h"
#include "ops/sinusoids.h"

namespace convoy::ops::cuda {

namespace {

// --- Forward -----------------------------------------------------------------------------------------------------

template <typename T>
struct ForwardArgs {
  const std::int32_t* tokens;  ///< null: the positions
  const T* table;
  const float* positions;  ///< (T,C), or null
  T* y;
  std::int64_t num_rows;
  float scale;
};

/// Grid: shape_over(y). Reads a row of the table for each word, writes y once; positions come from the caches.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kPixelThreads) look_up(ImageExtents y, ForwardArgs<T> args) {
  for_my_pixels<kWidth>(y, [&](int n, int t, int, int channel) {
    const int token = args.tokens == nullptr ? t : args.tokens[std::int64_t{n} * y.h + t];
    const bool is_known = token >= 0 && token < args.num_rows;
    float v[kWidth], position[kWidth] = {};
    if (is_known) load<kWidth>(args.table + std::int64_t{token} * y.c + channel, v);
    if (args.positions != nullptr) load<kWidth>(args.positions + std::int64_t{t} * y.c + channel, position);
#pragma unroll
    for (int i = 0; i < kWidth; ++i) {
      const float other = token == kNoToken ? position[i] : NAN;
      v[i] = is_known ? __fmaf_rn(args.scale, v[i], position[i]) : other;
    }
    store<kWidth>(v, args.y + y.at(n, t, 0) + channel);
  });
}

// --- Backward ----------------------------------------------------------------------------------------------------

constexpr int kThreads = 256;
constexpr int kMaxBlockWidth = 32;  // threads side by side: a warp reads neighbours
constexpr int kSegment = 16;        // sorted words that a thread adds up
constexpr int kWordsAtOnce = 4;     // whose gradients it reads at a time

/// Words in the order of their tokens.
struct WordOrder {
  const std::int32_t* tokens;  ///< null: the positions
  SortedWords sorted;          ///< has no meaning if tokens is null
  int n, length;

  __device__ int count() const { return tokens == nullptr ? n * length : *sorted.count; }
  __device__ int word(int i) const { return tokens == nullptr ? i % n * length + i / n : sorted.words[i]; }
  __device__ int token(int i) const { return tokens == nullptr ? i / n : tokens[sorted.words[i]]; }
};

template <typename T>
struct SumArgs {
  WordOrder order;
  const T* dy;
  float* dtable;  ///< zeros
  float* heads;   ///< (segments, C): a segment's part of its first row if that row began in an earlier segment
  int width;
  float scale;
};

/// Writes the sum of each row that begins in this segment, over the words of the segment, and the segment's head.
/// Grid: segments x tiles of columns; block: 256 threads, a segment for each of its rows. No shared memory. Reads dy
/// once; float32 sums in the order of words.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) sum_segments(SumArgs<T> args) {
  const int segment = static_cast<int>(blockIdx.x * blockDim.y + threadIdx.y), count = args.order.count();
  const int column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * kWidth;
  const int begin = segment * kSegment, end = min(begin + kSegment, count);
  if (begin >= count || column >= args.width) return;
  int token = args.order.token(begin);
  bool is_head = begin > 0 && args.order.token(begin - 1) == token;
  float sum[kWidth] = {};
  const auto write = [&] {
    const std::int64_t row = is_head ? segment : token;
    store<kWidth>(sum, (is_head ? args.heads : args.dtable) + row * args.width + column);
  };
  for (int first = begin; first < end; first += kWordsAtOnce) {
    float v[kWordsAtOnce][kWidth];
    int tokens[kWordsAtOnce];
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      const int i = min(first + k, end - 1);
      tokens[k] = args.order.token(i);
      load<kWidth>(args.dy + std::int64_t{args.order.word(i)} * args.width + column, v[k]);
    }
#pragma unroll
    for (int k = 0; k < kWordsAtOnce; ++k) {
      if (first + k >= end) continue;
      if (tokens[k] != token) {
        write();
        token = tokens[k];
        is_head = false;
#pragma unroll
        for (int i = 0; i < kWidth; ++i) sum[i] = 0;
      }
#pragma unroll
      for (int i = 0; i < kWidth; ++i) sum[i] = __fmaf_rn(args.scale, v[k][i], sum[i]);
    }
  }
  write();
}

/// The number of sorted words whose token is at most this one: the end of its run.
__device__ inline int end_of_run(const WordOrder& order, int token, int begin, int count) {
  int end = count;  // between begin, which has the token, and here
  while (begin < end) {
    const int middle = begin + (end - begin) / 2;
    if (order.token(middle) <= token) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return end;
}

/// Adds the heads of later segments to the row that begins in a segment and continues in them: each thread adds every
/// blockDim.y-th head, then the threads of a column are added from top to bottom. Other segments have nothing to do.
/// Grid: segments x tiles of columns. Block: 256 threads. Shared: at most 8 KiB.
template <typename T, int kWidth>
__global__ void __launch_bounds__(kThreads) add_heads(SumArgs<T> args) {
  alignas(32) __shared__ float sums[kThreads * kWidth];
  const int segment = static_cast<int>(blockIdx.x), count = args.order.count();
  const int begin = segment * kSegment, next = begin + kSegment;
  if (next >= count) return;
  const int token = args.order.token(next - 1);
  if (args.order.token(next) != token || (begin > 0 && args.order.token(begin - 1) == token)) return;
  const int last = (end_of_run(args.order, token, next, count) - 1) / kSegment;
  const int column = static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x) * kWidth;
  float sum[kWidth] = {};
  if (column < args.width) {
#pragma unroll 4
    for (int s = segment + 1 + static_cast<int>(threadIdx.y); s <= last; s += static_cast<int>(blockDim.y)) {
      float v[kWidth];
      load<kWidth>(args.heads + std::int64_t{s} * args.width + column, v);
#pragma unroll
      for (int i = 0; i < kWidth; ++i) sum[i] += v[i];
    }
  }
  const int me = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x), tile = static_cast<int>(blockDim.x) * kWidth;
  const int summed = static_cast<int>(blockIdx.y) * tile + me;
  store<kWidth>(sum, sums + me * kWidth);
  __syncthreads();
  if (me >= tile || summed >= args.width) return;
  float total = args.dtable[std::int64_t{token} * args.width + summed];
  for (int y = 0; y < static_cast<int>(blockDim.y); ++y) total += sums[y * tile + me];
  args.dtable[std::int64_t{token} * args.width + summed] = total;
}

template <typename T, int kWidth>
class CudaEmbedding final : public EmbeddingOp {
 public:
  CudaEmbedding(const EmbeddingSpec& spec, Context& context)
      : spec_(spec), y_(Shape::sequences(spec.n, spec.length, spec.width)), context_(context) {
    context.reserve_scratch(heads_offset() + num_segments() * spec.width * kFloatBytes);
    if (!spec.sinusoids) return;
    const std::vector<float> values = sinusoids(spec.length, spec.width);
    positions_ = Buffer(context.device(), std::ssize(values) * kFloatBytes);
    context.device().copy_to_device(positions_.data(), values.data(), positions_.size_bytes());
  }

  void forward(const std::int32_t* tokens, const void* table, void* y) override {
    if (tokens == nullptr) check_positions(spec_);
    const ForwardArgs<T> args{.tokens = tokens,
                              .table = static_cast<const T*>(table),
                              .positions = spec_.sinusoids ? positions_.floats() : nullptr,
                              .y = static_cast<T*>(y),
                              .num_rows = spec_.num_rows,
                              .scale = spec_.scale};
    launch(look_up<T, kWidth>, shape_over<kWidth>(y_), context_.stream(), y_, args);
  }

  void backward_weight(const std::int32_t* tokens, const void* dy, float* dtable) override {
    if (tokens == nullptr) check_positions(spec_);
    const auto table_bytes = static_cast<std::size_t>(spec_.num_rows * spec_.width * kFloatBytes);
    CONVOY_CHECK_CUDA(cudaMemsetAsync(dtable, 0, table_bytes, context_.stream()));
    SumArgs<T> args{.order = {.tokens = tokens, .sorted = {}, .n = y_.n, .length = y_.h},
                    .dy = static_cast<const T*>(dy),
                    .dtable = dtable,
                    .heads = reinterpret_cast<float*>(context_.scratch() + heads_offset()),
                    .width = y_.c,
                    .scale = spec_.scale};
    if (tokens != nullptr) args.order.sorted = sort_words(sort_spec(), tokens, context_.scratch(), context_);
    const unsigned width = std::min(std::bit_ceil(static_cast<unsigned>(y_.c / kWidth)), unsigned{kMaxBlockWidth});
    const unsigned height = kThreads / width;
    const auto tiles = static_cast<unsigned>(ceil_div(y_.c, std::int64_t{width} * kWidth));
    launch(sum_segments<T, kWidth>,
           {{static_cast<unsigned>(ceil_div(num_segments(), height)), tiles, 1}, {width, height, 1}}, context_.stream(),
           args);
    launch(add_heads<T, kWidth>, {{static_cast<unsigned>(num_segments()), tiles, 1}, {width, height, 1}},
           context_.stream(), args);
  }

 private:
  SortSpec sort_spec() const { return {.num_words = spec_.n * spec_.length, .num_tokens = spec_.num_rows}; }
  std::int64_t num_segments() const { return ceil_div(spec_.n * spec_.length, kSegment); }
  std::int64_t heads_offset() const { return round_up(sort_bytes(sort_spec()), 64); }

  EmbeddingSpec spec_;
  ImageExtents y_;
  Buffer positions_;  ///< (T,C) with sinusoids, else empty
  Context& context_;
};

}  // namespace

template <>
std::unique_ptr<EmbeddingOp> make_op(const EmbeddingSpec& spec, const Resources& resources) {
  return make_wide<CudaEmbedding, EmbeddingOp>(spec.width, spec, resources.context);
}

}  // namespace convoy::ops::cuda
