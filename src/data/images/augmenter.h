/// Data augmentation of images: chooses random changes of each image, and normalises bytes to values for the network.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/image_batch.h"
#include "convoy/params/data_parameters.h"

namespace convoy {

struct Parameters;

/// The changes of an image between the data set and the network. Their random numbers depend on (seed, epoch, sample),
/// so they are the same on every number of ranks.
struct AugmentationSpec {
  AugmentParams params = {};  ///< the random changes; by default there are none. `size` and `eval_resize` are not read
  bool mirrors = false;       ///< true: every image is mirrored, whatever params.flip says
  std::uint64_t seed = 0;
  std::int64_t size = 0;  ///< number of rows and of columns of the network's input; 0: those of the stored image
  /// If the crop is kPad and size > 0: the image is resized until its short side has this many pixels, then size x size
  /// pixels in its centre are cut out; 0: the short side gets `size` pixels.
  std::int64_t short_side = 0;
};

/// Returns the changes that an evaluation makes: images get the size of the network's input, with no random changes.
AugmentationSpec evaluation_augmentation(const io::ImageInput& input, const io::DatasetInfo& data);
/// Returns the changes that training makes. Throws RequestError if augment.crop_padding is too wide for a border of
/// reflected pixels.
AugmentationSpec training_augmentation(const io::ImageInput& input, const io::DatasetInfo& data,
                                       const Parameters& params);

/// Decides how each sample is augmented, and normalises bytes: (byte / 255 - mean) / standard deviation of each
/// channel, computed in double and rounded once to float32. Black pixels are byte 0, which is normalised like others.
/// The changes are made in two places. On the host, ImagePreparer (prepare_image.h) decodes, takes random resized
/// crops, resizes, edits and changes colours; if it edits or changes colours, it also crops and flips before that. The
/// device (ops/image_batch.h) makes the other changes:
///   crop: out(y, x) = image(y + dy - padding, x + dx - padding) or the border; dy, dx uniform in 0..2*padding
///   flip: columns reversed
///   cutout (DeVries & Taylor 2017): zeros after normalisation, in a square whose centre is uniform; it may stick out
///   erase (Zhong, Zheng, Kang, Li & Yang 2020): zeros after normalisation, in the box of random_erasing (crops.h)
class Augmenter {
 public:
  /// `stored` is the shape of the data set's images (0, 0, C if they are encoded files). mean and stddev have C values;
  /// all 0 and all 1 mean no normalisation. A standard deviation of 0 (a channel that never varies) counts as 1. Throws
  /// Error if the numbers of values differ from C, or if encoded images have no spec.size.
  Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
            std::vector<double> stddev);

  const AugmentationSpec& spec() const { return spec_; }
  const ImageShape& stored() const { return stored_; }
  const ImageShape& image() const { return image_; }  ///< shape of the network's input

  /// Returns what the device does to a sample in an epoch: its shift (only with CropKind::kPad, otherwise 0), its flip
  /// and its erased box. A random resized crop is not part of it.
  ops::ImageCut cut(std::int64_t epoch, std::int64_t sample) const;
  /// The table (C,256) of the normalised value of each byte in each channel.
  const std::vector<float>& value_of() const { return value_of_; }
  RandomKey key(Purpose purpose, std::int64_t epoch, std::int64_t sample) const;

 private:
  ImageShape stored_, image_;
  AugmentationSpec spec_;
  std::vector<float> value_of_;  ///< (C,256): the normalised value of each byte
};

/// Makes the augmenter for the images of `data`, with the mean and standard deviation of `input`. Throws Error if the
/// numbers of channels of `data` and `input` differ, or if `data` has encoded images and spec.size is 0.
Augmenter make_augmenter(const io::ImageInput& input, const io::DatasetInfo& data, const AugmentationSpec& spec);

}  // namespace convoy
