/// Brings a micro-batch's images from the data set's bytes to the network's input: the loader's threads bring them to
/// the input's size, as bytes, and draw how they are cut; the device cuts, normalises and mixes.
#include "data/images/image_path.h"

#include <array>
#include <cstring>
#include <thread>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/text.h"
#include "convoy/device/device.h"
#include "convoy/ops/operations.h"
#include "convoy/params/parameters.h"

#include "data/images/prepare_image.h"
#include "data/refuse_keys.h"

namespace convoy {

namespace {

/// Layout of a buffer: the cuts, then the images, which begin on a cache line of their own.
struct BufferLayout {
  explicit BufferLayout(const ImagePath& path)
      : image_bytes(path.augmenter().image().count()),
        images_offset(round_up(path.batch_micro() * static_cast<std::int64_t>(sizeof(ops::ImageCut)), 256)),
        buffer_bytes(images_offset + path.batch_micro() * image_bytes) {}

  std::int64_t image_bytes, images_offset, buffer_bytes;
};

class ImageWriter final : public BufferWriter {
 public:
  explicit ImageWriter(const ImagePath& path)
      : path_(path), layout_(path), preparer_(path.augmenter(), path.samples().info().oriented) {}

  void write(const BatchSamples& batch, std::int64_t i, std::byte* buffer) override {
    const io::SampleStore& samples = path_.samples();
    const std::span<std::byte> target(buffer + layout_.images_offset + i * layout_.image_bytes,
                                      static_cast<std::size_t>(layout_.image_bytes));
    ImageOrder order{.epoch = batch.epoch, .sample = batch.samples[static_cast<std::size_t>(i)]};
    if (samples.info().encoded) {
      order.file = samples.read_file(order.sample, memory_);
    } else {
      const std::span<std::byte> pixels = memory_for_pixels(target);
      samples.read_pixels(order.sample, pixels);
      order.image = reinterpret_cast<const std::uint8_t*>(pixels.data());
    }
    const PreparedImage image = preparer_.prepare(order);
    cuts(buffer)[i] = image.cut;
    if (target.data() != reinterpret_cast<const std::byte*>(image.pixels))
      std::memcpy(target.data(), image.pixels, target.size());
  }

  void write_padding(std::int64_t i, std::byte* buffer) override { cuts(buffer)[i] = {.is_padding = 1}; }

  void finish(const BatchSamples& batch, std::byte* buffer) override {
    if (!path_.mixes()) return;
    for (std::int64_t i = 0; i < std::ssize(batch.samples); ++i) cuts(buffer)[i].mix = path_.mix(batch, i).image;
  }

 private:
  static ops::ImageCut* cuts(std::byte* buffer) { return reinterpret_cast<ops::ImageCut*>(buffer); }

  // Returns the final memory, `target`, if it is large enough: most images have the network's size, and are not moved
  // again.
  std::span<std::byte> memory_for_pixels(std::span<std::byte> target) {
    const auto size = static_cast<std::size_t>(path_.augmenter().stored().count());
    if (size <= target.size()) return target.first(size);
    memory_.resize(size);
    return memory_;
  }

  const ImagePath& path_;
  BufferLayout layout_;
  ImagePreparer preparer_;
  std::vector<std::byte> memory_;  ///< holds a file, or pixels of another size than the network's
};

/// Passes buffers to the device. The host reads a buffer in place; for another device it is copied to one of two
/// buffers in turn.
class ImageReader final : public FeatureReader {
 public:
  ImageReader(const ImagePath& path, ops::Backend& backend)
      : path_(path),
        layout_(path),
        op_(backend.create<ops::ImageBatchOp>({.x = path.augmenter().image().batch(path.batch_micro()),
                                               .value_of = path.augmenter().value_of(),
                                               .type = path.type(),
                                               .border = path.augmenter().spec().params.border})) {
    Device& device = backend.device();
    for (DeviceBuffer& device_buffer : device_buffers_) {
      if (!device.is_host()) device_buffer.memory = Buffer(device, layout_.buffer_bytes);
      device_buffer.lane = device.make_copy_lane();
    }
  }

  std::int64_t buffer_bytes() const override { return layout_.buffer_bytes; }
  std::unique_ptr<BufferWriter> make_writer() const override { return std::make_unique<ImageWriter>(path_); }
  bool ready() const override { return device_buffers_[num_started_ % device_buffers_.size()].lane->done(); }

  void start(const std::byte* buffer) override {
    while (!ready()) std::this_thread::yield();
    DeviceBuffer& device_buffer = device_buffers_[num_started_++ % device_buffers_.size()];
    device_buffer.data = buffer;
    if (device_buffer.memory.data() == nullptr) return;
    device_buffer.lane->start_to_device(device_buffer.memory.data(), buffer, layout_.buffer_bytes);
    device_buffer.data = device_buffer.memory.data();
  }

  /// Writes x (N,H,W,C).
  void finish(void* x) override {
    last_ = &device_buffers_[(num_started_ - 1) % device_buffers_.size()];
    last_->lane->join();
    op_->run(reinterpret_cast<const std::uint8_t*>(last_->data + layout_.images_offset),
             reinterpret_cast<const ops::ImageCut*>(last_->data), x);
    last_->lane->mark();  // the next copy to this buffer waits until the kernel has read it
  }

  bool has_left() const override { return last_ == nullptr || last_->lane->done(); }

 private:
  struct DeviceBuffer {
    Buffer memory;  ///< empty on the host
    std::unique_ptr<CopyLane> lane;
    const std::byte* data = nullptr;  ///< address for the device
  };

  const ImagePath& path_;
  BufferLayout layout_;
  std::unique_ptr<ops::ImageBatchOp> op_;
  std::array<DeviceBuffer, 2> device_buffers_;
  std::size_t num_started_ = 0;
  const DeviceBuffer* last_ = nullptr;
};

}  // namespace

ImagePath::ImagePath(const io::SampleStore& samples, Augmenter augmenter, std::int64_t batch_micro, DataType type)
    : samples_(samples), augmenter_(std::move(augmenter)), batch_micro_(batch_micro), type_(type) {
  if (augmenter_.stored() != samples.info().image)
    fail("images of {} cannot be augmented as {}", to_string(samples.info().image), to_string(augmenter_.stored()));
  features_ = {
      {.name = features::kImage, .spec = {augmenter_.image().batch(batch_micro), type}, .read_ahead = true},
      {.name = features::kLabel, .spec = features::label_spec(batch_micro)},
  };
  if (mixes()) features_.push_back({.name = features::kMixedLabel, .spec = features::mixed_label_spec(batch_micro)});
}

std::unique_ptr<FeatureReader> ImagePath::open(std::string_view feature, ops::Backend& backend) const {
  if (feature != features::kImage) fail("images: {} is not read ahead", feature);
  return std::make_unique<ImageReader>(*this, backend);
}

SampleMix ImagePath::mix(const BatchSamples& batch, std::int64_t i) const {
  const AugmentationSpec& spec = augmenter_.spec();
  return draw_mix(spec.params, spec.seed, augmenter_.image(), batch, i);
}

std::int32_t ImagePath::label(const BatchSamples& batch, std::int64_t i) const {
  const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
  return sample == kNoSample ? ops::kNoLabel : samples_.label(sample);
}

void ImagePath::look_up(std::string_view feature, const BatchSamples& batch, void* to) const {
  const std::int64_t num = std::ssize(batch.samples);
  if (feature == features::kLabel) {
    auto* const labels = static_cast<std::int32_t*>(to);
    for (std::int64_t i = 0; i < num; ++i) labels[i] = label(batch, i);
  } else if (feature == features::kMixedLabel) {
    auto* const mixed = static_cast<ops::MixedLabel*>(to);
    for (std::int64_t i = 0; i < num; ++i) {
      const SampleMix other = mix(batch, i);
      mixed[i] = {.label = label(batch, other.image.partner), .share = other.label_share};
    }
  } else {
    fail("images: {} is not looked up", feature);
  }
}

std::string ImagePath::describe(std::int64_t sample) const {
  return fmt::format("sample {} ('{}') of the images from {}", sample, excerpt(samples_.name(sample)),
                     excerpt(samples_.info().source));
}

std::unique_ptr<SamplePath> make_image_path(const SamplePathSpec& spec) {
  const io::DatasetInfo& data = spec.samples.info();
  const AugmentParams& asked = spec.params.augment;
  refuse_augmentation({.flip_rows = asked.flip_rows, .turn = asked.turn, .factor = asked.factor, .noise = asked.noise},
                      data);
  AugmentationSpec augmentation = spec.view == SampleView::kTraining
                                      ? training_augmentation(spec.metadata.image(), data, spec.params)
                                      : evaluation_augmentation(spec.metadata.image(), data);
  augmentation.mirrors = spec.view == SampleView::kMirrored;
  return std::make_unique<ImagePath>(spec.samples, make_augmenter(spec.metadata.image(), data, augmentation),
                                     spec.params.batch.micro, spec.type);
}

}  // namespace convoy
