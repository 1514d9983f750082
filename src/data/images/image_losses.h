/// Finds out what decoding drops from PNG files, so that the network does not see it: the lower 8 of 16 bits, and the
/// alpha channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "convoy/comm/communicator.h"

namespace convoy {

/// What decoding drops from an image.
struct ImageLoss {
  bool low_bits = false;  ///< the image has 16 bits per channel
  bool alpha = false;     ///< the image has an alpha channel, or names transparent colours
};

/// Returns what decoding drops from an image file. It reads the chunks of a PNG before the pixels. `file` may have any
/// bytes; for a file that is no PNG, it returns no loss.
ImageLoss find_loss(std::span<const std::byte> file);

/// Notes which images lose something when they are decoded. Several threads may call add() at the same time.
class ImageLosses {
 public:
  /// Notes what image number `image` loses. The same image may be added several times, also on several ranks.
  void add(std::int64_t image, std::span<const std::byte> file);

  /// Returns, on rank 0, sentences about the losses that all ranks have noted, without duplicates; on other ranks
  /// nothing. num_images is the number of images of the data set. name_of(i) returns the name of image i. Called by all
  /// ranks of `world`.
  std::vector<std::string> describe(std::int64_t num_images, const std::function<std::string(std::int64_t)>& name_of,
                                    const mpi::Communicator& world) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::int64_t> low_bits_, alpha_;  ///< indices of the images that lose low bits, an alpha channel
};

}  // namespace convoy
