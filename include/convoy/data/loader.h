/// Reads ahead: background threads gather, decode, resize and draw the next micro-batches while the step computes.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "convoy/base/random.h"
#include "convoy/data/batch_source.h"
#include "convoy/data/sampler.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/library.h"
#include "convoy/params/parameters.h"

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
  double least_share = 0.08;    ///< kRandomResized: of the image's area
  double brightness = 0, contrast = 0, saturation = 0;  ///< factors are uniform in 1 -+ this
  std::int64_t cutout = 0;                              ///< pixels: side of a square of zeros
  BorderKind border = BorderKind::kBlack;               ///< of the padding; kReflect: below rows and columns
  double mixup = 0;  ///< alpha of Beta(alpha, alpha), of which another image's share is drawn; 0: nothing is mixed
};

/// Says how a sample is augmented and what its bytes become: (value / 255 - mean) / deviation of each channel, computed
/// in double and rounded once. Black is byte 0, normalised like any other. Decoding, resizing and colours are
/// ImagePreparer's (src/data/prepare_image.h), what comes then the device's (ops/image_batch.h):
///   crop: out(y, x) = image(y + dy - padding, x + dx - padding) or the border; dy, dx uniform in 0..2*padding
///   flip: columns reversed
///   cutout (DeVries & Taylor 2017): zeros after normalisation, in a square whose centre is uniform; it may stick out
class Augmenter {
 public:
  /// `stored`: what the data set holds (0, 0, C where it is encoded). mean and deviation (C); {0...}, {1...} for none.
  /// A deviation of 0 (a channel that never varies) counts as 1.
  Augmenter(const ImageShape& stored, const AugmentationSpec& spec, std::vector<double> mean,
            std::vector<double> deviation);

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

struct LoaderSpec {
  std::int64_t batch_global = 0;
  std::int64_t batch_micro = 0;
  std::int64_t first_micro_batch = 0;  ///< of this replica within the step
  std::int64_t num_micro_batches = 0;  ///< of this replica a step
  std::int64_t first_step = 0;         ///< where to begin (restart)
  std::int64_t num_steps = 0;          ///< to give in all
  std::int64_t steps_per_epoch =
      0;               ///< step / steps_per_epoch is the epoch; positions past the data are kNoLabel, black
  bool images = true;  ///< this rank reads images (first stage)
  bool labels = true;  ///< and labels (last stage)
  std::int64_t threads = 1;
  std::int64_t read_ahead = 3;         ///< micro-batches of images held ready, beside the one that each thread fills
  DataType type = DataType::kFloat32;  ///< of the network's input
  bool skips_bad = false;              ///< an image that cannot be used is black and listed; else an error

  /// Micro-batches of images in memory.
  std::int64_t num_slots() const { return threads + read_ahead; }
};

struct BadSample {
  std::int64_t sample = 0;
  std::string reason;  ///< "it is ..."
};

/// Micro-batch m of step t holds the samples at positions (t mod steps_per_epoch) * batch_global + m * batch_micro + i.
/// Threads start on construction and end on destruction, also in the middle; they sleep while all is read ahead. An
/// error in a thread is thrown by the load of its micro-batch. Each feature must be asked for in ascending order, step
/// after step, by one thread. samples, sampler, augmenter and library must
/// outlive the loader.
class Loader final : public BatchSource {
 public:
  Loader(const io::SampleStore& samples, const Sampler& sampler, const Augmenter& augmenter, ops::Library& library,
         const LoaderSpec& spec);
  ~Loader() override;

  /// Images; labels, and with augment.mixup mixed labels.
  void load(std::string_view feature, std::int64_t micro_batch, void* to) override;

  /// Where bad images are skipped: 1 for each of this replica's samples of a step whose image was bad, as far as they
  /// have been loaded. Read between steps.
  std::span<const std::uint8_t> bad_places() const;
  /// The bad ones among what was loaded since the last call.
  std::vector<BadSample> take_bad();

  double wait_seconds() const override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace convoy
