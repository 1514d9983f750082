/// Bytes into a network's input, row by row.
#include "convoy/ops/image_batch.h"

#include <memory>
#include <vector>

#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

/// A row of an image as it is cut, before its values are rounded.
struct CutRow {
  const std::uint8_t* pixels = nullptr;  ///< the image's row; null: all of it lies outside
  const ImageCut* cut = nullptr;
  bool has_hole = false;

  bool in_hole(std::int64_t w) const { return has_hole && w >= cut->hole_left && w < cut->hole_right; }
};

template <typename T>
class CpuImageBatch final : public ImageBatchOp {
 public:
  CpuImageBatch(const ImageBatchSpec& spec, const Workspace& workspace)
      : shape_(spec.x), workspace_(workspace), value_of_(spec.value_of) {}

  void run(const std::uint8_t* images, const ImageCut* cuts, void* x) override {
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range rows = my_part_of(shape_.n * shape_.h);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t n = row / shape_.h, h = row % shape_.h;
        T* const to = values_at<T>(x) + row * shape_.w * shape_.c;
        const CutRow own = row_of(images, cuts, n, h);
        const auto [partner, share] = cuts[n].mix;
        if (share > 0) {
          const CutRow other = row_of(images, cuts, partner, h);
          fill(to, [&, s = share](std::int64_t w, std::int64_t c) {
            return (1.0f - s) * value(own, w, c) + s * value(other, w, c);
          });
        } else {
          fill(to, [&](std::int64_t w, std::int64_t c) { return value(own, w, c); });
        }
      }
    }
  }

 private:
  CutRow row_of(const std::uint8_t* images, const ImageCut* cuts, std::int64_t n, std::int64_t h) const {
    const ImageCut& cut = cuts[n];
    const std::int64_t row = h + cut.dy;
    const bool is_seen = cut.black == 0 && row >= 0 && row < shape_.h;
    return {.pixels = is_seen ? images + (n * shape_.h + row) * shape_.w * shape_.c : nullptr,
            .cut = &cut,
            .has_hole = h >= cut.hole_top && h < cut.hole_bottom};
  }

  float value(const CutRow& row, std::int64_t w, std::int64_t c) const {
    if (row.in_hole(w)) return 0.0f;
    const std::int64_t column = (row.cut->flip != 0 ? shape_.w - 1 - w : w) + row.cut->dx;
    const bool is_inside = row.pixels != nullptr && column >= 0 && column < shape_.w;
    return value_of_[c * 256 + (is_inside ? row.pixels[column * shape_.c + c] : 0)];
  }

  template <typename ValueAt>
  void fill(T* to, const ValueAt& value_at) const {
    for (std::int64_t w = 0; w < shape_.w; ++w)
      for (std::int64_t c = 0; c < shape_.c; ++c) *to++ = rounded_to<T>(value_at(w, c));
  }

  Shape shape_;
  const Workspace& workspace_;
  std::vector<float> value_of_;  ///< (C,256)
};

}  // namespace

std::unique_ptr<ImageBatchOp> make_image_batch(const ImageBatchSpec& spec, const Workspace& workspace) {
  return make_stored<CpuImageBatch, ImageBatchOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
