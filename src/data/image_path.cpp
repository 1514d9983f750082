/// The two paths of an image.
#include "data/image_path.h"

#include <cstring>
#include <thread>

namespace convoy {

namespace {

/// The loader's threads do everything; the device takes the floats. Where images are mixed, a slot holds what becomes
/// of them, then the images as they were.
class HostPath final : public ImagePath {
 public:
  HostPath(const Augmenter& augmenter, std::int64_t batch_micro, Device& device)
      : augmenter_(augmenter), batch_micro_(batch_micro), device_(device) {}

  std::int64_t slot_bytes() const override { return (mixes() ? 2 : 1) * batch_bytes(); }

  void prepare(std::byte* slot, std::int64_t i, const ImageOrder& order, ImagePreparer& preparer) const override {
    auto* out = reinterpret_cast<float*>(slot + (mixes() ? batch_bytes() : 0) + i * image_bytes());
    if (order.black) return augmenter_.apply_black(out);
    const PreparedImage image = preparer.prepare(order);
    augmenter_.apply(image.pixels, image.cut, out);
  }

  void mix(std::byte* slot, std::span<const ops::ImageMix> mixes) const override {
    const std::int64_t count = augmenter_.image().count();
    const auto* const images = reinterpret_cast<const float*>(slot + batch_bytes());
    auto* out = reinterpret_cast<float*>(slot);
    for (std::int64_t n = 0; n < batch_micro_; ++n, out += count) {
      const auto [partner, share] = mixes[static_cast<std::size_t>(n)];
      const float *own = images + n * count, *other = images + partner * count;
      for (std::int64_t i = 0; i < count; ++i) out[i] = (1.0f - share) * own[i] + share * other[i];
    }
  }

  bool ready() const override { return true; }
  void start(const std::byte* slot) override { slot_ = slot; }
  void finish(void* x) override { device_.copy_to_device(x, slot_, batch_bytes()); }
  bool has_left() const override { return true; }

 private:
  bool mixes() const { return augmenter_.spec().mixup > 0; }
  std::int64_t batch_bytes() const { return batch_micro_ * image_bytes(); }
  std::int64_t image_bytes() const { return augmenter_.image().count() * static_cast<std::int64_t>(sizeof(float)); }

  const Augmenter& augmenter_;
  std::int64_t batch_micro_;
  Device& device_;
  const std::byte* slot_ = nullptr;
};

/// The loader's threads bring bytes to the input's size and draw the cuts; both travel to one of two places on the
/// device in turn, where one kernel makes the input of them. A slot holds the cuts, then the images.
class DevicePath final : public ImagePath {
 public:
  DevicePath(const Augmenter& augmenter, std::int64_t batch_micro, Device& device,
             std::unique_ptr<ops::ImageBatchOp> op)
      : augmenter_(augmenter), batch_micro_(batch_micro), op_(std::move(op)) {
    for (Place& place : places_) {
      place.memory = Buffer(device, slot_bytes());
      place.lane = device.make_copy_lane();
    }
  }

  std::int64_t slot_bytes() const override { return images_offset() + batch_micro_ * augmenter_.image().count(); }

  void prepare(std::byte* slot, std::int64_t i, const ImageOrder& order, ImagePreparer& preparer) const override {
    auto* cut = reinterpret_cast<ops::ImageCut*>(slot) + i;
    if (order.black) {
      *cut = {.black = 1};
      return;
    }
    const PreparedImage image = preparer.prepare(order);
    *cut = image.cut;
    const std::int64_t size = augmenter_.image().count();
    std::memcpy(slot + images_offset() + i * size, image.pixels, static_cast<std::size_t>(size));
  }

  void mix(std::byte* slot, std::span<const ops::ImageMix> mixes) const override {
    auto* const cuts = reinterpret_cast<ops::ImageCut*>(slot);
    for (std::size_t n = 0; n < mixes.size(); ++n) cuts[n].mix = mixes[n];
  }

  bool ready() const override { return next().lane->done(); }

  void start(const std::byte* slot) override {
    while (!ready()) std::this_thread::yield();
    next().lane->start_to_device(next().memory.data(), slot, slot_bytes());
    ++num_started_;
  }

  void finish(void* x) override {
    last_ = &places_[(num_started_ - 1) % 2];
    last_->lane->join();
    op_->run(reinterpret_cast<const std::uint8_t*>(last_->memory.data() + images_offset()),
             reinterpret_cast<const ops::ImageCut*>(last_->memory.data()), x);
    last_->lane->mark();  // the next copy to this place waits until the kernel has read it
  }

  bool has_left() const override { return last_ == nullptr || last_->lane->done(); }

 private:
  struct Place {
    Buffer memory;
    std::unique_ptr<CopyLane> lane;
  };

  const Place& next() const { return places_[num_started_ % 2]; }
  std::int64_t images_offset() const {
    return round_up(batch_micro_ * static_cast<std::int64_t>(sizeof(ops::ImageCut)), 256);
  }

  const Augmenter& augmenter_;
  std::int64_t batch_micro_;
  std::unique_ptr<ops::ImageBatchOp> op_;
  Place places_[2];
  std::int64_t num_started_ = 0;
  const Place* last_ = nullptr;
};

}  // namespace

std::unique_ptr<ImagePath> make_image_path(const Augmenter& augmenter, const ImagePathSpec& spec,
                                           ops::Library& library) {
  auto op = library.image_batch(
      {.x = augmenter.image().batch(spec.batch_micro), .value_of = augmenter.value_of(), .type = spec.type});
  if (op == nullptr) return std::make_unique<HostPath>(augmenter, spec.batch_micro, library.device());
  return std::make_unique<DevicePath>(augmenter, spec.batch_micro, library.device(), std::move(op));
}

}  // namespace convoy
