/// The sections that describe samples: data, augment and import.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

inline constexpr std::int64_t kMaxFolds = 65535;  ///< largest number of folds of a data set

/// How many samples of a data set are used: a share in percent, or a number; 0 and 0: all.
struct SampleLimit {
  double percent = 0;
  std::int64_t count = 0;

  bool operator==(const SampleLimit&) const = default;
};

struct DataParams {
  std::string train;  ///< path of a shard, of a folder of shards, or a prefix such as data/fashion/train
  std::string val;    ///< path of the data set that selects the best checkpoint; empty: `test` selects it
  std::string test;
  SampleLimit limit;      ///< how many samples of `train` are used
  std::int64_t fold = 0;  ///< fold of `train` (from 1) that is measured in place of `val`, and not trained on; 0: none
  bool shuffle = true;
  bool balanced = false;            ///< whether each class is drawn equally often
  std::int64_t loader_threads = 1;  ///< number of threads of each rank that read samples
  std::string copy_to = "none";     ///< where shards are copied before they are read: "none", "memory", or a folder
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often a sample's bytes are compared with their hash
  bool allow_part = false;                 ///< whether `train` may be one shard of several
  bool operator==(const DataParams&) const = default;
};

/// A number for each channel of the images, for values in [0, 1] (bytes / 255).
struct ChannelValues {
  bool imagenet = false;       ///< whether they are those of ImageNet, with which torchvision's weights were trained
  std::vector<double> values;  ///< one for each channel, or one for all; empty: computed from the training set

  bool are_of_data() const { return !imagenet && values.empty(); }
  bool operator==(const ChannelValues&) const = default;
};

struct AugmentParams {
  std::int64_t size = 0;                   ///< rows and columns of the network's input; 0: the size of the images
  CropKind crop = CropKind::kPad;          ///< which part of an image a training reads
  std::int64_t crop_padding = 0;           ///< pixels of border that CropKind::kPad adds before it crops to size
  BorderKind border = BorderKind::kBlack;  ///< what this border shows
  double scale = 0.08;                     ///< smallest share of the image's area with CropKind::kRandomResized
  std::int64_t eval_resize = 0;  ///< pixels of the short side before the centre is cut out; 0: the usual ratio
  bool flip = false;             ///< whether left and right change places with probability 1/2
  bool flip_rows = false;        ///< whether top and bottom of arrays change places with probability 1/2
  bool turn = false;             ///< whether arrays are turned by 0, 90, 180 or 270 degrees
  double factor = 0;             ///< the factor of all values of a sample of arrays is drawn from 1 - this to 1 + this
  double noise = 0;              ///< standard deviation of what is added to each value of arrays
  double brightness = 0, contrast = 0, saturation = 0;  ///< the factors are drawn from 1 - this to 1 + this
  AutoAugmentKind policy = AutoAugmentKind::kNone;
  std::int64_t policy_operations = 2, policy_magnitude = 9;  ///< number and strength of RandAugment's operations
  std::int64_t cutout = 0;     ///< side in pixels of a square that is set to the mean; 0: no square
  double erase = 0;            ///< probability that a part of the image is erased
  double mixup = 0;            ///< alpha of Beta(alpha, alpha), from which mixup draws; 0: no mixup
  double cutmix = 0;           ///< the same for CutMix; with mixup, each micro-batch gets one of both
  bool normalize = true;       ///< whether pixels become (x - mean) / stddev, channel by channel
  ChannelValues mean, stddev;  ///< mean and standard deviation of the channels
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool operator==(const AugmentParams&) const = default;
};

struct ImportParams {
  ImportFormat format = ImportFormat::kAuto;
  std::string source;
  std::string output;
  StorageKind storage = StorageKind::kRaw;
  std::int64_t size = 0;  ///< rows and columns to which raw images are resized; 0: they are not resized
  ResizeKind resize = ResizeKind::kCrop;
  ChannelsKind channels = ChannelsKind::kAuto;
  bool orient = false;  ///< whether images are turned as their Exif orientation says
  TokenizerKind tokenizer = TokenizerKind::kWords;
  std::int64_t vocabulary = 20'000;    ///< largest number of tokens, including the special ones
  std::string text_column = "text";    ///< name of a table's column of texts
  std::string label_column = "label";  ///< name of a table's column of classes
  bool splits = true;  ///< whether folders named train*, val* and test* are splits; false: they are classes
  double max_class_fraction = 0.1;  ///< largest number of a table's classes, as a share of its texts
  double val_fraction = 0;          ///< share of each class of train that becomes the split val
  std::int64_t folds = 0;           ///< number of folds that the samples of train are dealt to; 0: none
  // These are for arrays and tables of numbers; the texts are explained in data/arrays/array_files.h.
  std::string inputs;             ///< arrays of a sample: "spectrum: x, position: all.npz:p"
  std::string target, id, group;  ///< where the target, a sample's name and its group are
  TargetRequest target_kind = TargetRequest::kAuto;
  AxesKind axes = AxesKind::kAuto;                    ///< which axis is that of the channels
  BadValuesKind bad_values = BadValuesKind::kRefuse;  ///< what is done with NaN and infinities
  double test_fraction = 0;                           ///< share of each class of train that becomes the split test
  std::string val_rows, test_rows;                    ///< files with the numbers of the rows of these splits
  std::int64_t shards = 0;  ///< number of files per split; 0: one for each 128 MiB, at most 256
  bool strict = false;      ///< whether the first bad file ends the import
  bool replace = false;     ///< whether a data set in `output` is replaced
  bool operator==(const ImportParams&) const = default;
};

}  // namespace convoy
