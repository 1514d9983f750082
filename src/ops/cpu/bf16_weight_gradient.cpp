/// dw[k][r][s][c] = sum over pixels (n,p,q) of dy[n][p][q][k] x[n][stride p + r - padding][stride q + s - padding][c].
/// The processor multiplies two bf16 that lie beside each other, along the sum: pixels q and q + 1. So a band of rows
/// is copied with pairs of pixels interleaved, x once for each s, and multiplied while it lies in the cache. The sum is
/// divided into parts that follow from the shape alone, each computed by one thread: no bit depends on how many
/// threads there are.
#include "ops/cpu/bf16_weight_gradient.h"

#include <algorithm>
#include <cstdint>

#include <omp.h>

#include "ops/cpu/dnnl_parts.h"
#include "ops/cpu/instruction_set.h"
#include "ops/cpu/lanes_simd.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/small_products.h"

namespace convoy::ops::cpu {

#ifdef CONVOY_HAS_BF16_PRODUCTS

namespace {

using Word = Bf16Factors::Word;

constexpr std::int64_t kKernel = 3;
constexpr std::int64_t kFilters = 8;  // times kKernel vectors of channels: 24 sums in registers

// The values of two pixels, pairwise; zeros where a pointer is null.
void interleave(const Bf16* first, const Bf16* second, std::int64_t count, Word* to) {
  const auto halves = [](const Bf16* pixel, std::int64_t c) {
    return pixel == nullptr ? HalfVec{} : HalfVec(*reinterpret_cast<const HalfVecAt*>(pixel + c));
  };
  for (std::int64_t c = 0; c < count; c += kLanes)
    *reinterpret_cast<WordVec*>(to + c) = zipped(halves(first, c), halves(second, c));
}

class Bf16WeightGradient final : public ConvolutionWeightGradient {
 public:
  Bf16WeightGradient(const ConvolutionSpec& spec, Workspace& workspace)
      : x_(spec.x),
        y_(spec.y()),
        stride_(spec.stride),
        padding_(spec.padding),
        workspace_(workspace),
        pairs_((y_.w + 1) / 2),
        band_rows_(rows_that_fit()),
        bands_((y_.h + band_rows_ - 1) / band_rows_),
        ranges_(std::min(y_.n * bands_, kWantedParts)) {
    workspace_.reserve((ranges_ * sum_count() + workspace_.threads() * words_of(band_rows_)) * kFloatBytes);
  }

  void run(const void* x, const void* dy, float* dw) override {
    const auto *const from_x = static_cast<const Bf16*>(x), *const from_dy = static_cast<const Bf16*>(dy);
    const int threads = workspace_.threads();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t range = 0; range < ranges_; ++range) sum_range(from_x, from_dy, range, dw);
    add_in_order(dw, sums(1), sum_count(), ranges_ - 1, sum_count(), threads);
  }

 private:
  static constexpr std::int64_t kMaxWords = 1 << 16;  // of a band: 256 KiB, which stay in the second cache

  std::int64_t sum_count() const {
    return y_.c * kKernel * kKernel * x_.c;
  }
  // Rows of x below those of so many rows of y.
  std::int64_t x_rows(std::int64_t rows) const {
    return (rows - 1) * stride_ + kKernel;
  }
  // Of the copies of dy and x for so many rows of y.
  std::int64_t words_of(std::int64_t rows) const {
    return pairs_ * (rows * y_.c + kKernel * x_rows(rows) * x_.c);
  }
  std::int64_t rows_that_fit() const {
    std::int64_t rows = y_.h;
    while (rows > 1 && words_of(rows) > kMaxWords) --rows;
    return rows;
  }

  // Of ranges behind the first, whose sums are dw.
  float* sums(std::int64_t range) const {
    return reinterpret_cast<float*>(workspace_.scratch()) + (range - 1) * sum_count();
  }
  Word* my_words() const {
    return reinterpret_cast<Word*>(sums(ranges_)) + omp_get_thread_num() * words_of(band_rows_);
  }

  void sum_range(const Bf16* x, const Bf16* dy, std::int64_t range, float* dw) const {
    float* const sum = range == 0 ? dw : sums(range);
    std::fill_n(sum, sum_count(), 0.0f);
    const Range bands = part_of(y_.n * bands_, range, ranges_);
    for (std::int64_t band = bands.begin; band < bands.end; ++band) {
      const std::int64_t sample = band / bands_, begin = band % bands_ * band_rows_;
      const Range rows = {begin, std::min(begin + band_rows_, y_.h)};
      Word* const words = my_words();
      Word* const x_words = words + pairs_ * band_rows_ * y_.c;
      copy_dy(dy, sample, rows, words);
      copy_x(x, sample, rows, x_words);
      add_products(words, x_words, rows.end - rows.begin, sum);
    }
  }

  // (rows,pairs,K)
  void copy_dy(const Bf16* dy, std::int64_t sample, const Range& rows, Word* to) const {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      const Bf16* const pixels = dy + (sample * y_.h + row) * y_.w * y_.c;
      for (std::int64_t q = 0; q < y_.w; q += 2, to += y_.c)
        interleave(pixels + q * y_.c, q + 1 < y_.w ? pixels + (q + 1) * y_.c : nullptr, y_.c, to);
    }
  }

  // (rows of x,S,pairs,C)
  void copy_x(const Bf16* x, std::int64_t sample, const Range& rows, Word* to) const {
    const std::int64_t first = rows.begin * stride_ - padding_;
    for (std::int64_t row = first; row < first + x_rows(rows.end - rows.begin); ++row)
      for (std::int64_t s = 0; s < kKernel; ++s)
        for (std::int64_t q = 0; q < 2 * pairs_; q += 2, to += x_.c)
          interleave(pixel(x, sample, row, q, s), pixel(x, sample, row, q + 1, s), x_.c, to);
  }

  // Below column q of y; null beyond the border of either.
  const Bf16* pixel(const Bf16* x, std::int64_t sample, std::int64_t row, std::int64_t q, std::int64_t s) const {
    const std::int64_t column = q * stride_ + s - padding_;
    if (row < 0 || row >= x_.h || column < 0 || column >= x_.w || q >= y_.w) return nullptr;
    return x + ((sample * x_.h + row) * x_.w + column) * x_.c;
  }

  void add_products(const Word* dy, const Word* x, std::int64_t rows, float* sum) const {
    for (std::int64_t r = 0; r < kKernel; ++r)
      for (std::int64_t c = 0; c < x_.c; c += kLanes)
        for (std::int64_t k = 0; k < y_.c; k += kFilters)
          add_tile(dy + k, x + r * kKernel * pairs_ * x_.c + c, rows, sum + (k * kKernel + r) * kKernel * x_.c + c);
  }

  // Of kFilters filters, one r and each s, kLanes channels.
  void add_tile(const Word* dy, const Word* x, std::int64_t rows, float* sum) const {
    const std::int64_t filters = y_.c, channels = x_.c, x_row = kKernel * pairs_ * channels;
    Vec sums[kFilters][kKernel] = {};
    for (std::int64_t row = 0; row < rows; ++row, x += stride_ * x_row) {
      const Word *x0 = x, *x1 = x0 + pairs_ * channels, *x2 = x1 + pairs_ * channels;
      for (std::int64_t i = 0; i < pairs_; ++i, dy += filters, x0 += channels, x1 += channels, x2 += channels) {
#pragma GCC unroll 8
        for (int k = 0; k < kFilters; ++k) {
          sums[k][0] = Bf16Factors::multiply_add(dy[k], x0, sums[k][0]);
          sums[k][1] = Bf16Factors::multiply_add(dy[k], x1, sums[k][1]);
          sums[k][2] = Bf16Factors::multiply_add(dy[k], x2, sums[k][2]);
        }
      }
    }
#pragma GCC unroll 8
    for (int k = 0; k < kFilters; ++k) {
#pragma GCC unroll 3
      for (int s = 0; s < kKernel; ++s) {
        float* const at = sum + k * kKernel * kKernel * channels + s * channels;
        write(at, read<Vec>(at) + sums[k][s]);
      }
    }
  }

  Shape x_, y_;
  std::int64_t stride_, padding_;
  Workspace& workspace_;
  std::int64_t pairs_, band_rows_, bands_, ranges_;
};

// Measured on ResNet-20's layers with an EPYC of the fourth generation. Where the processor has tiles (AMX), oneDNN
// computes by them; wider layers have not been measured.
bool is_faster(const ConvolutionSpec& spec) {
  constexpr std::int64_t kMaxChannels = 64;
  const auto fits = [](std::int64_t channels) { return channels % kLanes == 0 && channels <= kMaxChannels; };
  return spec.type == DataType::kBfloat16 && spec.kernel == kKernel && spec.groups == 1 && fits(spec.x.c) &&
         fits(spec.num_filters) && !may_use_tiles();
}

}  // namespace

std::unique_ptr<ConvolutionWeightGradient> make_bf16_weight_gradient(const ConvolutionSpec& spec,
                                                                     Workspace& workspace) {
  if (!is_faster(spec)) return nullptr;
  return std::make_unique<Bf16WeightGradient>(spec, workspace);
}

#else

std::unique_ptr<ConvolutionWeightGradient> make_bf16_weight_gradient(const ConvolutionSpec& /*spec*/,
                                                                     Workspace& /*workspace*/) {
  return nullptr;
}

#endif

}  // namespace convoy::ops::cpu
