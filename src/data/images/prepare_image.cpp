/// Does only what an image needs: raw bytes of the right size are passed on unchanged.
#include "data/images/prepare_image.h"

#include <algorithm>
#include <cmath>

#include "data/images/crops.h"

namespace convoy {

namespace {

// Returns the length of a side that is scaled by `size` / `part`, rounded up.
std::int64_t scaled_side(std::int64_t side, std::int64_t size, double part) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(side * size) / part));
}

/// Returns the same part of the picture at another size.
Region scaled(const Region& region, const ImageShape& from, const ImageShape& to) {
  const double down = static_cast<double>(to.h) / static_cast<double>(from.h);
  const double across = static_cast<double>(to.w) / static_cast<double>(from.w);
  return {region.top * down, region.left * across, region.height * down, region.width * across};
}

/// Makes the cut on bytes. image and out (H,W,C) have the same shape; see ImageCut.
void cut_bytes(const std::uint8_t* image, const ImageShape& shape, const ops::ImageCut& cut, BorderKind border,
               std::uint8_t* out) {
  for (std::int64_t y = 0; y < shape.h; ++y) {
    for (std::int64_t x = 0; x < shape.w; ++x, out += shape.c) {
      std::int64_t row = y + cut.dy, column = (cut.flip != 0 ? shape.w - 1 - x : x) + cut.dx;
      if (border == BorderKind::kReflect) {
        row = ops::reflected(row, shape.h);
        column = ops::reflected(column, shape.w);
      }
      const bool inside = row >= 0 && row < shape.h && column >= 0 && column < shape.w;
      const std::uint8_t* const in = image + (row * shape.w + column) * shape.c;
      for (std::int64_t c = 0; c < shape.c; ++c) out[c] = inside ? in[c] : 0;
    }
  }
}

}  // namespace

// Draws a random part. It is scaled down while it is decoded, as long as no fewer pixels are left than it is resized
// to.
ImagePreparer::Part ImagePreparer::random_part(const ImageHeader& header, const ImageOrder& order) const {
  const AugmentationSpec& spec = augmenter_->spec();
  const ImageShape full{header.h, header.w, augmenter_->image().c};
  const Region region =
      random_resized_crop(full, spec.params.scale, augmenter_->key(Purpose::kResizedCrop, order.epoch, order.sample));
  const DecodeRequest request{.channels = full.c,
                              .min_h = scaled_side(full.h, spec.size, region.height),
                              .min_w = scaled_side(full.w, spec.size, region.width)};
  const ImageShape shape = decoded_shape(header, request);
  return {request, shape, grid_over(scaled(region, full, shape), spec.size, spec.size)};
}

ImagePreparer::Part ImagePreparer::part_seen(const ImageHeader& header, const ImageOrder& order) const {
  const AugmentationSpec& spec = augmenter_->spec();
  if (spec.size > 0 && spec.params.crop == CropKind::kRandomResized) return random_part(header, order);
  const ImageShape full{header.h, header.w, augmenter_->image().c};
  if (spec.size == 0) return {{.channels = full.c}, full, {}};
  return {{.channels = full.c}, full, centre_crop(full, std::max(spec.size, spec.short_side), spec.size)};
}

PreparedImage ImagePreparer::prepare(const ImageOrder& order) {
  // 1. What is read from the picture, and what is seen of that
  const ImageShape &wanted = augmenter_->image(), &stored = augmenter_->stored();
  const bool raw = order.image != nullptr;
  auto [request, shape, grid] =
      part_seen(raw ? ImageHeader{.h = stored.h, .w = stored.w} : decoder_.read_header(order.file), order);

  // 2. At the network's size: only what that needs of a file is decoded
  const bool is_ready = shape == wanted && grid == PixelGrid{};
  if (!is_ready) request.window = resampler_.plan(shape, grid, wanted.h, wanted.w);
  const ImageView image = raw ? ImageView{shape, order.image} : decoder_.decode(order.file, request);
  PreparedImage prepared{image.pixels, augmenter_->cut(order.epoch, order.sample)};
  if (!is_ready) {
    resized_.resize(static_cast<std::size_t>(wanted.count()));
    resampler_.resample(image, resized_.data());
    prepared.pixels = resized_.data();
  }

  // 3. Edits and changed colours, of what is left after the crop: its mean counts
  const AugmentParams& params = augmenter_->spec().params;
  if (params.policy != AutoAugmentKind::kNone || has_jitter(params)) {
    prepared.pixels = edit(prepared.pixels, prepared.cut, order);
    prepared.cut.dy = prepared.cut.dx = prepared.cut.flip = 0;
  }
  return prepared;
}

const std::uint8_t* ImagePreparer::edit(const std::uint8_t* pixels, const ops::ImageCut& cut, const ImageOrder& order) {
  const ImageShape& shape = augmenter_->image();
  const AugmentParams& params = augmenter_->spec().params;
  const auto key = [&](Purpose purpose) { return augmenter_->key(purpose, order.epoch, order.sample); };
  edited_.resize(static_cast<std::size_t>(shape.count()));
  cut_bytes(pixels, shape, cut, params.border, edited_.data());
  for (const ImageEdit& edit : draw_edits(params, shape, key(Purpose::kAutoAugment)))
    editor_.apply(edit, shape, edited_.data());
  if (has_jitter(params)) draw_jitter(params, key(Purpose::kColour)).apply(edited_.data(), shape);
  return edited_.data();
}

}  // namespace convoy
