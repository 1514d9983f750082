/// Changes images on their way to the network: draws the changes, and maps bytes to values.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/model_metadata.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/image_batch.h"
#include "convoy/params/choices.h"

#include "data/images/auto_augment.h"

namespace convoy {

struct Parameters;

enum class Flip {
  kNever,
  kRandom,  ///< with probability 1/2
  kAlways,
};

/// Changes of an image on its way to the network, in this order. They are keyed by (seed, epoch, sample): the same on
/// every layout.
struct AugmentationSpec {
  std::int64_t crop_padding = 0;  ///< kPad: width of a border, before a random crop to the image's size
  Flip flip = Flip::kNever;
  std::uint64_t seed = 0;
  CropKind crop = CropKind::kPad;
  std::int64_t size = 0;        ///< rows and columns of the network's input; 0: as stored
  std::int64_t short_side = 0;  ///< kPad: resized to this before `size` is cut out; 0: as `size`
  double min_share = 0.08;      ///< kRandomResized: smallest share of the image's area
  double brightness = 0, contrast = 0, saturation = 0;  ///< factors are uniform in 1 -+ this value
  AutoAugmentSpec policy;                               ///< edits after crop and flip, before the three above
  std::int64_t cutout = 0;                              ///< pixels: side of a square of zeros
  BorderKind border = BorderKind::kBlack;               ///< kReflect: the padding is less than rows and columns
  double erase = 0;                                     ///< probability of random erasing, if there is no cutout
  double mixup = 0;   ///< alpha of the Beta(alpha, alpha) that another image's share is drawn from; 0: no mixup
  double cutmix = 0;  ///< alpha of the Beta(alpha, alpha) that a box's area is drawn from; 0: no CutMix

  bool mixes() const { return mixup > 0 || cutmix > 0; }
};

/// Returns the changes that bring stored images to the network's input, and no others.
AugmentationSpec evaluation_augmentation(const io::ImageInput& input, const io::DatasetInfo& data);
/// Returns the changes that training makes. Throws RequestError if a border is wider than reflection allows.
AugmentationSpec training_augmentation(const io::ImageInput& input, const io::DatasetInfo& data,
                                       const Parameters& params);

/// Tells how a sample is augmented, and maps its bytes to values: (value / 255 - mean) / standard deviation of each
/// channel, computed in double and rounded once. Black is byte 0, normalised like any other. ImagePreparer
/// (prepare_image.h) decodes, takes random resized crops, resizes, edits and changes colours; if it edits or changes
/// colours, it also crops and flips before that. The device (ops/image_batch.h) does the rest:
///   crop: out(y, x) = image(y + dy - padding, x + dx - padding) or the border; dy, dx uniform in 0..2*padding
///   flip: columns reversed
///   cutout (DeVries & Taylor 2017): zeros after normalisation, in a square whose centre is uniform; it may stick out
///   erase (Zhong, Zheng, Kang, Li & Yang 2020): zeros after normalisation, in the box of random_erasing (crops.h)
class Augmenter {
 public:
  /// `stored`: the images of the data set (0, 0, C if they are encoded). mean and stddev have C values, {0...} and
  /// {1...} for no normalisation. A standard deviation of 0 (a channel that never varies) counts as 1.
  Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
            std::vector<double> stddev);

  const AugmentationSpec& spec() const { return spec_; }
  const ImageShape& stored() const { return stored_; }
  const ImageShape& image() const { return image_; }  ///< shape of the network's input

  /// Returns how the sample is cut in that epoch.
  ops::ImageCut cut(std::int64_t epoch, std::int64_t sample) const;
  const std::vector<float>& value_of() const { return value_of_; }
  RandomKey key(Purpose purpose, std::int64_t epoch, std::int64_t sample) const;

 private:
  ImageShape stored_, image_;
  AugmentationSpec spec_;
  std::vector<float> value_of_;  ///< (C,256): the value of each byte
};

/// Makes the augmenter of images like those of `data`, with the mean and standard deviation of `input`. Throws Error if
/// the numbers of channels differ, or if encoded images have no spec.size.
Augmenter make_augmenter(const io::ImageInput& input, const io::DatasetInfo& data, const AugmentationSpec& spec);

struct SampleMix {
  ops::ImageMix image;
  float label_share = 0;  ///< share of the partner's label; CutMix: the share of the image that its box covers
};

/// Draws what sample i of a micro-batch is mixed with, and by how much: Zhang, Cisse, Dauphin & Lopez-Paz 2018, "mixup:
/// beyond empirical risk minimization"; Yun et al. 2019, "CutMix". If both are on, each micro-batch draws one of them
/// with probability 1/2. `image`: shape of the result.
///
/// The partner is in the same micro-batch. A rank with this micro-batch has both images and both labels, so the first
/// stage and the last draw the same pairs without a message, on any grid, and no image is decoded twice. In a
/// micro-batch each sample is a partner once: index + shift, modulo N, with one shift of 1 .. N-1. Samples come in a
/// random order, so a shift pairs them as well as another permutation would. The share is drawn from Beta(alpha,
/// alpha), which is symmetric in the two images. CutMix draws share and box for each sample (cutmix_box of crops.h).
SampleMix draw_mix(const AugmentationSpec& spec, const ImageShape& image, const BatchSamples& batch, std::int64_t i);

}  // namespace convoy
