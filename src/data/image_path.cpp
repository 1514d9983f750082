/// Slots, and how they travel.
#include "data/image_path.h"

#include <cstring>
#include <thread>

namespace convoy {

ImagePath::ImagePath(const Augmenter& augmenter, const ImagePathSpec& spec, ops::Library& library)
    : augmenter_(augmenter),
      batch_micro_(spec.batch_micro),
      op_(library.image_batch({.x = augmenter.image().batch(spec.batch_micro),
                               .value_of = augmenter.value_of(),
                               .type = spec.type,
                               .border = augmenter.spec().border})) {
  Device& device = library.device();
  for (Place& place : places_) {
    if (!device.is_host()) place.memory = Buffer(device, slot_bytes());
    place.lane = device.make_copy_lane();
  }
}

// The images begin on a cache line of their own.
std::int64_t ImagePath::images_offset() const {
  return round_up(batch_micro_ * static_cast<std::int64_t>(sizeof(ops::ImageCut)), 256);
}

std::int64_t ImagePath::slot_bytes() const {
  return images_offset() + batch_micro_ * augmenter_.image().count();
}

std::span<std::byte> ImagePath::place(std::byte* slot, std::int64_t i) const {
  const std::int64_t size = augmenter_.image().count();
  return {slot + images_offset() + i * size, static_cast<std::size_t>(size)};
}

void ImagePath::prepare(std::byte* slot, std::int64_t i, const ImageOrder& order, ImagePreparer& preparer) const {
  auto* cut = reinterpret_cast<ops::ImageCut*>(slot) + i;
  if (order.black) {
    *cut = {.black = 1};
    return;
  }
  const PreparedImage image = preparer.prepare(order);
  *cut = image.cut;
  const std::span<std::byte> to = place(slot, i);
  if (to.data() != reinterpret_cast<const std::byte*>(image.pixels)) std::memcpy(to.data(), image.pixels, to.size());
}

void ImagePath::mix(std::byte* slot, std::span<const ops::ImageMix> mixes) {
  auto* const cuts = reinterpret_cast<ops::ImageCut*>(slot);
  for (std::size_t n = 0; n < mixes.size(); ++n) cuts[n].mix = mixes[n];
}

void ImagePath::start(const std::byte* slot) {
  while (!ready()) std::this_thread::yield();
  Place& place = places_[num_started_++ % places_.size()];
  place.slot = slot;
  if (place.memory.data() == nullptr) return;
  place.lane->start_to_device(place.memory.data(), slot, slot_bytes());
  place.slot = place.memory.data();
}

void ImagePath::finish(void* x) {
  last_ = &places_[(num_started_ - 1) % places_.size()];
  last_->lane->join();
  op_->run(reinterpret_cast<const std::uint8_t*>(last_->slot + images_offset()),
           reinterpret_cast<const ops::ImageCut*>(last_->slot), x);
  last_->lane->mark();  // the next copy to this place waits until the kernel has read it
}

}  // namespace convoy
