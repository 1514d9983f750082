/// How an image is changed on its way: what is drawn for it, and what its bytes become.
#pragma once

#include <cstdint>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/base/shape.h"
#include "convoy/data/sample_path.h"
#include "convoy/io/checkpoint.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/image_batch.h"
#include "convoy/params/parameters.h"

#include "data/images/auto_augment.h"

namespace convoy {

enum class Flip {
  kNever,
  kRandom,  ///< with probability 1/2
  kAlways,
};

/// What happens to an image on its way, in this order. Keyed by (seed, epoch, sample): the same on every layout.
struct AugmentationSpec {
  std::int64_t crop_padding = 0;  ///< kPad: a border, then a random crop back to the image's size
  Flip flip = Flip::kNever;
  std::uint64_t seed = 0;
  CropKind crop = CropKind::kPad;
  std::int64_t size = 0;        ///< rows and columns of the network's input; 0: as stored
  std::int64_t short_side = 0;  ///< kPad: resized to this, then the centre of `size` is cut out; 0: as `size`
  double min_share = 0.08;      ///< kRandomResized: of the image's area
  double brightness = 0, contrast = 0, saturation = 0;  ///< factors are uniform in 1 -+ this
  AutoAugmentSpec policy;                               ///< edits after crop and flip, before the three above
  std::int64_t cutout = 0;                              ///< pixels: side of a square of zeros
  BorderKind border = BorderKind::kBlack;               ///< of the padding; kReflect: below rows and columns
  double erase = 0;                                     ///< probability of random erasing, where there is no cutout
  double mixup = 0;   ///< alpha of Beta(alpha, alpha), of which another image's share is drawn; 0: no mixup
  double cutmix = 0;  ///< alpha of the Beta(alpha, alpha) of which a box's area is drawn; 0: no CutMix

  bool mixes() const { return mixup > 0 || cutmix > 0; }
};

/// Only what brings stored images to the network's input.
AugmentationSpec evaluation_augmentation(const io::ImageInput& input, const io::DatasetInfo& data);
/// The same, changed as training changes images. Throws RequestError where a border is wider than they reflect.
AugmentationSpec training_augmentation(const io::ImageInput& input, const io::DatasetInfo& data,
                                       const Parameters& params);

/// Says how a sample is augmented and what its bytes become: (value / 255 - mean) / standard deviation of each channel,
/// computed in double and rounded once. Black is byte 0, normalised like any other. Decoding, resizing and colours are
/// ImagePreparer's (prepare_image.h), what comes then the device's (ops/image_batch.h):
///   crop: out(y, x) = image(y + dy - padding, x + dx - padding) or the border; dy, dx uniform in 0..2*padding
///   flip: columns reversed
///   cutout (DeVries & Taylor 2017): zeros after normalisation, in a square whose centre is uniform; it may stick out
///   erase (Zhong, Zheng, Kang, Li & Yang 2020): likewise, in the rectangle of random_erasing (crops.h)
class Augmenter {
 public:
  /// `stored`: what the data set holds (0, 0, C where it is encoded). mean and stddev (C); {0...}, {1...} for none.
  /// A deviation of 0 (a channel that never varies) counts as 1.
  Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
            std::vector<double> stddev);

  const AugmentationSpec& spec() const { return spec_; }
  const ImageShape& stored() const { return stored_; }
  const ImageShape& image() const { return image_; }  ///< the network's

  /// How that sample is cut in that epoch, and what a byte becomes (C,256).
  ops::ImageCut cut(std::int64_t epoch, std::int64_t sample) const;
  const std::vector<float>& value_of() const { return value_of_; }
  RandomKey key(Purpose purpose, std::int64_t epoch, std::int64_t sample) const;

 private:
  ImageShape stored_, image_;
  AugmentationSpec spec_;
  std::vector<float> value_of_;  ///< (C, 256): what a byte becomes
};

/// Of data like `data`, normalised as the network expects.
Augmenter make_augmenter(const io::ImageInput& input, const io::DatasetInfo& data, const AugmentationSpec& spec);

struct SampleMix {
  ops::ImageMix image;
  float label_share = 0;  ///< of the partner's label; CutMix: the share of the image that its box covers
};

/// What sample i of a micro-batch is mixed with, and by how much. Zhang, Cisse, Dauphin & Lopez-Paz 2018, "mixup:
/// beyond empirical risk minimization"; Yun et al. 2019, "CutMix". Where both are on, each micro-batch draws one of
/// them, as likely as the other. The partner stands in the same micro-batch: whoever holds that has both images
/// and both labels, so the first stage and the last draw the same pairs without a message, on any grid, and no image is
/// decoded twice. In a micro-batch each sample is a partner once: index + shift, around its end, with one shift of 1 ..
/// N-1. Samples come in a random order, so a shift pairs them as well as another permutation would. The share is
/// Beta(alpha, alpha), symmetric, so it matters not whose it is called. CutMix
/// draws share and box for each sample (cutmix_box of crops.h). `image`: what comes out.
SampleMix draw_mix(const AugmentationSpec& spec, const ImageShape& image, const BatchSamples& batch, std::int64_t i);

}  // namespace convoy
