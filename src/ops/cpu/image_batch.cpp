/// Bytes into a network's input, by a table that holds rounded values.
#include "convoy/ops/image_batch.h"

#include <algorithm>
#include <memory>

#include "ops/cpu/operations.h"
#include "ops/cpu/parallel.h"
#include "ops/cpu/storage.h"
#include "ops/cpu/workspace.h"

namespace convoy::ops::cpu {

namespace {

template <typename T>
class CpuImageBatch final : public ImageBatchOp {
 public:
  CpuImageBatch(const ImageBatchSpec& spec, const Workspace& workspace) : shape_(spec.x), workspace_(workspace) {
    for (const float value : spec.value_of) value_of_.push_back(rounded_to<T>(value));
  }

  void run(const std::uint8_t* images, const ImageCut* cuts, void* x) override {
#pragma omp parallel num_threads(workspace_.threads())
    {
      const Range rows = my_part_of(shape_.n * shape_.h);
      for (std::int64_t row = rows.begin; row < rows.end; ++row) {
        const std::int64_t n = row / shape_.h, image_count = shape_.h * shape_.w * shape_.c;
        fill_row(images + n * image_count, cuts[n], row % shape_.h, values_at<T>(x) + row * shape_.w * shape_.c);
      }
    }
  }

 private:
  void fill_row(const std::uint8_t* image, const ImageCut& cut, std::int64_t h, T* to) const {
    const std::int64_t row = h + cut.dy, channels = shape_.c;
    const bool is_seen = cut.black == 0 && row >= 0 && row < shape_.h;
    for (std::int64_t w = 0; w < shape_.w; ++w) {
      const std::int64_t column = (cut.flip != 0 ? shape_.w - 1 - w : w) + cut.dx;
      const bool is_inside = is_seen && column >= 0 && column < shape_.w;
      const std::uint8_t* pixel = image + (row * shape_.w + column) * channels;
      for (std::int64_t c = 0; c < channels; ++c)
        to[w * channels + c] = value_of_[c * 256 + (is_inside ? pixel[c] : 0)];
    }
    if (h < cut.hole_top || h >= cut.hole_bottom) return;
    const std::int64_t left = std::clamp<std::int64_t>(cut.hole_left, 0, shape_.w),
                       right = std::clamp<std::int64_t>(cut.hole_right, left, shape_.w);
    std::fill(to + left * channels, to + right * channels, T{});
  }

  Shape shape_;
  const Workspace& workspace_;
  std::vector<T> value_of_;  ///< (C,256)
};

}  // namespace

std::unique_ptr<ImageBatchOp> make_image_batch(const ImageBatchSpec& spec, const Workspace& workspace) {
  return make_stored<CpuImageBatch, ImageBatchOp>(spec, workspace);
}

}  // namespace convoy::ops::cpu
