/// How a micro-batch's images get from the data set's bytes to the network's input: prepared by the loader's threads,
/// or brought to the device as bytes and prepared there.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "convoy/data/loader.h"

#include "data/prepare_image.h"

namespace convoy {

/// Slots are filled by many threads at once, each its own, and given to the device one after the other by one thread:
/// start(), then finish(), then the next; a slot may be started before the one before has left.
class ImagePath {
 public:
  virtual ~ImagePath() = default;

  virtual std::int64_t slot_bytes() const = 0;
  /// Writes the i-th image of a micro-batch into its slot; `preparer` is the calling thread's.
  virtual void prepare(std::byte* slot, std::int64_t i, const ImageOrder& order, ImagePreparer& preparer) const = 0;
  /// Where the augmentation mixes: once all images of the slot are there. mixes (N).
  virtual void mix(std::byte* slot, std::span<const ops::ImageMix> mixes) const = 0;
  /// Whether start() would not wait.
  virtual bool ready() const = 0;
  virtual void start(const std::byte* slot) = 0;
  /// What was started last becomes x (N,H,W,C), in order with the device's work.
  virtual void finish(void* x) = 0;
  /// Whether the slot that was finished last may be filled again.
  virtual bool has_left() const = 0;
};

struct ImagePathSpec {
  std::int64_t batch_micro = 0;
  DataType type = DataType::kFloat32;  ///< of the network's input
};

/// Whichever the library's device prefers. augmenter and library outlive it.
std::unique_ptr<ImagePath> make_image_path(const Augmenter& augmenter, const ImagePathSpec& spec,
                                           ops::Library& library);

}  // namespace convoy
