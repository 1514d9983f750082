/// Turns bytes into a network's input, row by row.
#include "convoy/ops/image_batch.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "ops/cpu/parallel.h"
#include "ops/cpu/resources.h"
#include "ops/cpu/storage.h"

namespace convoy::ops::cpu {

namespace {

/// A row of an image with its cut, before its values are rounded.
struct CutRow {
  const std::uint8_t* pixels = nullptr;  ///< the image's row; null: all of it is outside the image
  const ImageCut* cut = nullptr;
  bool has_hole = false;

  bool in_hole(std::int64_t w) const { return has_hole && w >= cut->hole_left && w < cut->hole_right; }
};

/// The columns of a row that show the image.
struct Inside {
  std::int64_t begin = 0, end = 0;  ///< columns of the output
  std::int64_t start = 0;           ///< the image's column at `begin`
};

Inside inside_of(const CutRow& row, std::int64_t width) {
  if (row.pixels == nullptr) return {};
  const std::int64_t dx = row.cut->dx;
  const std::int64_t begin = std::clamp<std::int64_t>(-dx, 0, width), end = std::clamp(width - dx, begin, width);
  if (row.cut->flip == 0) return {begin, end, begin + dx};
  return {width - end, width - begin, end - 1 + dx};
}

template <typename T>
class CpuImageBatch final : public ImageBatchOp {
 public:
  CpuImageBatch(const ImageBatchSpec& spec, const Workspace& workspace)
      : shape_(spec.x), reflects_(spec.border == BorderKind::kReflect), workspace_(workspace) {
    for (const float value : spec.value_of) value_of_.push_back(rounded_to<T>(value));
    exact_value_of_ = spec.value_of;
  }

  void run(const std::uint8_t* images, const ImageCut* cuts, void* x) override {
#pragma omp parallel for schedule(static) num_threads(workspace_.threads())
    for (std::int64_t row = 0; row < shape_.n * shape_.h; ++row) {
      const std::int64_t n = row / shape_.h, h = row % shape_.h;
      T* const to = values_at<T>(x) + row * shape_.w * shape_.c;
      const CutRow own = row_of(images, cuts, n, h);
      const ImageMix& mixed = cuts[n].mix;
      const bool is_mixed = mixed.share > 0 && h >= mixed.top && h < mixed.bottom;
      const Range columns{is_mixed ? mixed.left : 0, is_mixed ? std::min<std::int64_t>(mixed.right, shape_.w) : 0};
      if (columns.end - columns.begin < shape_.w) look_up(to, own);
      if (is_mixed) mix(to, own, row_of(images, cuts, mixed.partner, h), mixed.share, columns);
    }
  }

 private:
  CutRow row_of(const std::uint8_t* images, const ImageCut* cuts, std::int64_t n, std::int64_t h) const {
    const ImageCut& cut = cuts[n];
    const std::int64_t row = reflects_ ? reflected(h + cut.dy, shape_.h) : h + cut.dy;
    const bool is_seen = cut.is_padding == 0 && row >= 0 && row < shape_.h;
    return {.pixels = is_seen ? images + (n * shape_.h + row) * shape_.w * shape_.c : nullptr,
            .cut = &cut,
            .has_hole = h >= cut.hole_top && h < cut.hole_bottom};
  }

  /// Writes a row: the columns outside the image, the image, then the hole over both.
  void look_up(T* to, const CutRow& row) const {
    const Inside inside = inside_of(row, shape_.w);
    fill_beside(to, row, {0, inside.begin});
    if (inside.begin < inside.end) {
      const std::uint8_t* const from = row.pixels + inside.start * shape_.c;
      T* const out = to + inside.begin * shape_.c;
      switch (shape_.c) {
        case 1:
          look_up<1>(out, from, inside.end - inside.begin, row.cut->flip != 0);
          break;
        case 3:
          look_up<3>(out, from, inside.end - inside.begin, row.cut->flip != 0);
          break;
        default:
          look_up<0>(out, from, inside.end - inside.begin, row.cut->flip != 0);
      }
    }
    fill_beside(to, row, {inside.end, shape_.w});
    if (row.has_hole)
      std::fill(to + row.cut->hole_left * shape_.c,
                to + std::min<std::int64_t>(row.cut->hole_right, shape_.w) * shape_.c, rounded_to<T>(0.0f));
  }

  /// Writes pixels one after the other; if flipped, they are read backwards. kChannels = 0 means any number of
  /// channels.
  template <int kChannels>
  void look_up(T* to, const std::uint8_t* from, std::int64_t num_pixels, bool flipped) const {
    const std::int64_t channels = kChannels > 0 ? kChannels : shape_.c, step = flipped ? -channels : channels;
    const T* const value_of = value_of_.data();
#pragma GCC unroll 4
    for (std::int64_t i = 0; i < num_pixels; ++i, from += step, to += channels)
      for (std::int64_t c = 0; c < channels; ++c) to[c] = value_of[c * kNumBytes + from[c]];
  }

  void fill_beside(T* to, const CutRow& row, const Range& columns) const {
    for (std::int64_t w = columns.begin; w < columns.end; ++w)
      for (std::int64_t c = 0; c < shape_.c; ++c) to[w * shape_.c + c] = value_of_[index_of(row, w, c)];
  }

  void mix(T* to, const CutRow& own, const CutRow& other, float share, const Range& columns) const {
    for (std::int64_t w = columns.begin; w < columns.end; ++w)
      for (std::int64_t c = 0; c < shape_.c; ++c)
        to[w * shape_.c + c] = rounded_to<T>((1.0f - share) * value(own, w, c) + share * value(other, w, c));
  }

  float value(const CutRow& row, std::int64_t w, std::int64_t c) const {
    if (row.in_hole(w)) return 0.0f;
    return exact_value_of_[index_of(row, w, c)];
  }

  /// The index in value_of_ of the byte that is seen in column w.
  std::size_t index_of(const CutRow& row, std::int64_t w, std::int64_t c) const {
    std::int64_t column = (row.cut->flip != 0 ? shape_.w - 1 - w : w) + row.cut->dx;
    if (reflects_) column = reflected(column, shape_.w);
    const bool is_seen = row.pixels != nullptr && column >= 0 && column < shape_.w;
    return static_cast<std::size_t>(c * kNumBytes + (is_seen ? row.pixels[column * shape_.c + c] : 0));
  }

  Shape shape_;
  bool reflects_;
  const Workspace& workspace_;
  std::vector<T> value_of_;            ///< (C,256), rounded to the type of the output
  std::vector<float> exact_value_of_;  ///< (C,256), not rounded, for mixing
};

}  // namespace

template <>
std::unique_ptr<ImageBatchOp> make_op(const ImageBatchSpec& spec, const Resources& resources) {
  return make_stored<CpuImageBatch, ImageBatchOp>(spec, resources.workspace);
}

}  // namespace convoy::ops::cpu
