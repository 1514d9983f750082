/// Finds what a network does not see of PNG files: the lower half of 16 bits, and the alpha channel.
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

struct ImageLoss {
  bool low_bits = false;  ///< the image has 16 bits per channel
  bool alpha = false;     ///< the image has an alpha channel, or names transparent colours
};

/// Finds the losses from the chunks before the pixels. Any bytes may be given; only a PNG loses something.
ImageLoss find_loss(std::span<const std::byte> file);

/// Records which images lose something. For several threads.
class ImageLosses {
 public:
  /// Adds an image. It may be added several times, also by several ranks.
  void add(std::int64_t image, std::span<const std::byte> file);

  /// Returns, on rank 0, sentences about the images of all ranks; elsewhere none. `name_of` names an image by its
  /// number. All ranks of the group.
  std::vector<std::string> describe(std::int64_t num_images, const std::function<std::string(std::int64_t)>& name_of,
                                    const mpi::Communicator& world) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::int64_t> low_bits_, alpha_;  ///< numbers of images
};

}  // namespace convoy
