/// dw[k][r][s][c] = sum over pixels (n,p,q) of dy[n][p][q][k] x[n][stride p + r - padding][stride q + s - padding][c].
/// The processor multiplies two bf16 that are neighbours along the sum: pixels q and q + 1. So a band of rows is copied
/// with pairs of pixels interleaved, and multiplied while it is in the cache. x is copied once for each s; with stride
/// 1, it is copied once for s = 0 and 2, whose pairs are the same, and once for s = 1. The sum is divided into parts
/// that follow from the shape alone, each computed by one thread: no bit depends on the number of threads.
#include <algorithm>
#include <cstdint>

#include <omp.h>

#include "ops/cpu/convolution/convolution_directions.h"
#include "ops/cpu/instruction_set.h"
#include "ops/cpu/lanes_simd.h"
#include "ops/cpu/onednn/dnnl_parts.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/prefetch.h"
#include "ops/cpu/small_products.h"

namespace convoy::ops::cpu {

#ifdef CONVOY_HAS_BF16_PRODUCTS

namespace {

using Word = Bf16Factors::Word;

constexpr std::int64_t kKernel = 3;
constexpr std::int64_t kFilters = 8;  // times kKernel vectors of channels: 24 sums in registers

// Writes the values of two pixels in pairs. The values of a null pointer are zeros.
void interleave(const Bf16* first, const Bf16* second, std::int64_t count, Word* to) {
  const auto halves = [](const Bf16* at) { return HalfVec(*reinterpret_cast<const HalfVecAt*>(at)); };
  for (std::int64_t c = 0; c < count; c += kLanes) {
    WordVec& pairs = *reinterpret_cast<WordVec*>(to + c);
    if (first != nullptr && second != nullptr) [[likely]]
      pairs = zipped(halves(first + c), halves(second + c));
    else
      pairs =
          zipped(first == nullptr ? HalfVec{} : halves(first + c), second == nullptr ? HalfVec{} : halves(second + c));
  }
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
        x_row_words_(x_.c * (stride_ == 1 ? 2 * pairs_ + 1 : kKernel * pairs_)),
        band_rows_(rows_that_fit()),
        bands_((y_.h + band_rows_ - 1) / band_rows_),
        ranges_(std::min(y_.n * bands_, kWantedParts)),
        at_once_(bands_ == 1 ? std::max<std::int64_t>(kMaxWords / words_of(y_.h), 1) : 1) {
    workspace_.reserve((ranges_ * sum_count() + workspace_.threads() * at_once_ * words_of(band_rows_)) * kFloatBytes);
  }

  void run(const void* x, const void* dy, float* dw) override {
    const auto *const from_x = static_cast<const Bf16*>(x), *const from_dy = static_cast<const Bf16*>(dy);
    const int threads = workspace_.threads();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t range = 0; range < ranges_; ++range) sum_range(from_x, from_dy, range, dw);
    add_in_order(dw, sums(1), sum_count(), ranges_ - 1, sum_count(), threads);
  }

 private:
  static constexpr std::int64_t kMaxWords = 1 << 16;  // that are copied at once: 256 KiB stay in the second cache
  static constexpr std::int64_t kRowsAhead = 2;

  std::int64_t sum_count() const {
    return y_.c * kKernel * kKernel * x_.c;
  }
  // The number of rows of x that `rows` rows of y depend on.
  std::int64_t x_rows(std::int64_t rows) const {
    return (rows - 1) * stride_ + kKernel;
  }
  // The number of words of the copies of dy and x for `rows` rows of y.
  std::int64_t words_of(std::int64_t rows) const {
    return rows * pairs_ * y_.c + x_rows(rows) * x_row_words_;
  }
  std::int64_t rows_that_fit() const {
    std::int64_t rows = y_.h;
    while (rows > 1 && words_of(rows) > kMaxWords) --rows;
    return rows;
  }

  // The sums of a range after the first one, whose sums are in dw.
  float* sums(std::int64_t range) const {
    return reinterpret_cast<float*>(workspace_.scratch()) + (range - 1) * sum_count();
  }
  Word* my_words() const {
    return reinterpret_cast<Word*>(sums(ranges_)) + omp_get_thread_num() * at_once_ * words_of(band_rows_);
  }

  void sum_range(const Bf16* x, const Bf16* dy, std::int64_t range, float* dw) const {
    float* const sum = range == 0 ? dw : sums(range);
    std::fill_n(sum, sum_count(), 0.0f);
    const Range bands = part_of(y_.n * bands_, range, ranges_);
    for (std::int64_t band = bands.begin; band < bands.end; band += at_once_)
      add_bands(x, dy, {band, std::min(band + at_once_, bands.end)}, sum);
  }

  // Adds the products of some bands to `sum`. They are several only if each is a whole sample.
  void add_bands(const Bf16* x, const Bf16* dy, const Range& bands, float* sum) const {
    const std::int64_t first_row = bands.begin % bands_ * band_rows_;
    const Range rows = {first_row, std::min(first_row + band_rows_, y_.h)};
    Word* const dy_words = my_words();
    Word* const x_words = dy_words + at_once_ * band_rows_ * pairs_ * y_.c;
    Word *next_dy = dy_words, *next_x = x_words;
    for (std::int64_t band = bands.begin; band < bands.end; ++band) {
      next_dy = copy_dy(dy, band / bands_, rows, next_dy);
      next_x = copy_x(x, band / bands_, rows, next_x);
    }
    add_products(dy_words, x_words, {bands.end - bands.begin, rows.end - rows.begin}, sum);
  }

  // Copies dy to (rows,pairs,K). Returns the end of the copy.
  Word* copy_dy(const Bf16* dy, std::int64_t sample, const Range& rows, Word* to) const {
    for (std::int64_t row = rows.begin; row < rows.end; ++row) {
      prefetch_ahead(dy, y_, sample * y_.h + row);
      const Bf16* const pixels = dy + (sample * y_.h + row) * y_.w * y_.c;
      for (std::int64_t q = 0; q < y_.w; q += 2, to += y_.c)
        interleave(pixels + q * y_.c, q + 1 < y_.w ? pixels + (q + 1) * y_.c : nullptr, y_.c, to);
    }
    return to;
  }

  // Copies x to (rows of x,S,pairs,C); with stride 1 to (rows of x,pairs + 1 of s = 0 and 2 and pairs of s = 1,C).
  Word* copy_x(const Bf16* x, std::int64_t sample, const Range& rows, Word* to) const {
    const std::int64_t first = rows.begin * stride_ - padding_;
    for (std::int64_t row = first; row < first + x_rows(rows.end - rows.begin); ++row, to += x_row_words_) {
      prefetch_ahead(x, x_, sample * x_.h + row);
      const Bf16* const pixels = row < 0 || row >= x_.h ? nullptr : x + (sample * x_.h + row) * x_.w * x_.c;
      copy_pairs(pixels, 0, stride_ == 1 ? pairs_ + 1 : pairs_, to);
      copy_pairs(pixels, 1, pairs_, to + place(1));
      if (stride_ != 1) copy_pairs(pixels, 2, pairs_, to + place(2));
    }
    return to;
  }

  // Prefetches the row that will be copied kRowsAhead rows later. Rows are counted through all samples.
  static void prefetch_ahead(const Bf16* values, const Shape& shape, std::int64_t row) {
    const std::int64_t ahead = std::clamp<std::int64_t>(row + kRowsAhead, 0, shape.n * shape.h - 1);
    prefetch(values + ahead * shape.w * shape.c, shape.w * shape.c);
  }

  // The offset of the pairs of s in a copied row of x.
  std::int64_t place(std::int64_t s) const {
    if (stride_ != 1) return s * pairs_ * x_.c;
    return s == 1 ? (pairs_ + 1) * x_.c : s / 2 * x_.c;
  }

  // Copies the columns of a row of x that meet columns 0 and 1 of y, 2 and 3, ... A row beyond the border is null.
  void copy_pairs(const Bf16* row, std::int64_t s, std::int64_t count, Word* to) const {
    const auto pixel = [&](std::int64_t column) {
      return row == nullptr || column < 0 || column >= x_.w ? nullptr : row + column * x_.c;
    };
    for (std::int64_t i = 0, column = s - padding_; i < count; ++i, column += 2 * stride_, to += x_.c)
      interleave(pixel(column), pixel(column + stride_), x_.c, to);
  }

  // The numbers of bands, and of rows in each, that follow each other in a copy.
  struct Copied {
    std::int64_t bands, rows;
  };

  void add_products(const Word* dy, const Word* x, const Copied& copied, float* sum) const {
    for (std::int64_t r = 0; r < kKernel; ++r)
      for (std::int64_t c = 0; c < x_.c; c += kLanes)
        for (std::int64_t k = 0; k < y_.c; k += kFilters)
          add_tile(dy + k, x + r * x_row_words_ + c, copied, sum + (k * kKernel + r) * kKernel * x_.c + c);
  }

  // Adds the products of kFilters filters, one r, each s and kLanes channels.
  void add_tile(const Word* dy, const Word* x, const Copied& copied, float* sum) const {
    const std::int64_t filters = y_.c, channels = x_.c;
    Vec sums[kFilters][kKernel] = {};
    for (std::int64_t band = 0; band < copied.bands; ++band, x += x_rows(copied.rows) * x_row_words_)
      for (std::int64_t row = 0; row < copied.rows; ++row) {
        const Word* x0 = x + row * stride_ * x_row_words_;
        const Word *x1 = x0 + place(1), *x2 = x0 + place(2);
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
  std::int64_t pairs_, x_row_words_, band_rows_, bands_, ranges_, at_once_;
};

// The limits were measured on the layers of ResNet-20 and ResNet-50 with an EPYC of the fourth generation: for more
// channels, oneDNN is faster. If the processor has tiles (AMX), oneDNN uses them and is faster, too.
bool is_faster(const ConvolutionSpec& spec) {
  const std::int64_t max_channels = spec.stride == 1 ? 64 : 128;
  const auto fits = [&](std::int64_t channels) { return channels % kLanes == 0 && channels <= max_channels; };
  return spec.type == DataType::kBfloat16 && spec.kernel == kKernel && spec.dilation == 1 && spec.groups == 1 &&
         fits(spec.x.c) && fits(spec.num_filters) && !may_use_tiles();
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
