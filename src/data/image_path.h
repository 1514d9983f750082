/// How a micro-batch's images get from the data set's bytes to the network's input: the loader's threads bring them to
/// the input's size, as bytes, and draw how they are cut; the device cuts, normalises and mixes.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "convoy/data/loader.h"

#include "data/prepare_image.h"

namespace convoy {

struct ImagePathSpec {
  std::int64_t batch_micro = 0;
  DataType type = DataType::kFloat32;  ///< of the network's input
};

/// Slots are filled by many threads at once, each its own, and given to the device one after the other by one thread:
/// start(), then finish(), then the next; a slot may be started before the one before has left. A slot holds the cuts,
/// then the images. A device that is the host reads it where it is; to another it travels, to one of two places in
/// turn.
class ImagePath {
 public:
  /// augmenter and library outlive it.
  ImagePath(const Augmenter& augmenter, const ImagePathSpec& spec, ops::Library& library);

  std::int64_t slot_bytes() const;
  /// Where the i-th image of a micro-batch goes. One that has the network's size already may be read to there.
  std::span<std::byte> place(std::byte* slot, std::int64_t i) const;
  /// Writes the i-th image of a micro-batch into its slot; `preparer` is the calling thread's.
  void prepare(std::byte* slot, std::int64_t i, const ImageOrder& order, ImagePreparer& preparer) const;
  /// Where the augmentation mixes. mixes (N).
  static void mix(std::byte* slot, std::span<const ops::ImageMix> mixes);
  /// Whether start() would not wait.
  bool ready() const { return next().lane->done(); }
  void start(const std::byte* slot);
  /// What was started last becomes x (N,H,W,C), in order with the device's work.
  void finish(void* x);
  /// Whether the slot that was finished last may be filled again.
  bool has_left() const { return last_ == nullptr || last_->lane->done(); }

 private:
  struct Place {
    Buffer memory;  ///< none on the host
    std::unique_ptr<CopyLane> lane;
    const std::byte* slot = nullptr;  ///< as the device sees it
  };

  const Place& next() const { return places_[num_started_ % places_.size()]; }
  std::int64_t images_offset() const;

  const Augmenter& augmenter_;
  std::int64_t batch_micro_;
  std::unique_ptr<ops::ImageBatchOp> op_;
  std::array<Place, 2> places_;
  std::size_t num_started_ = 0;
  const Place* last_ = nullptr;
};

}  // namespace convoy
