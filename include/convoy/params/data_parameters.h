/// The sections that describe samples: data, augment and import.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convoy/params/choices.h"

namespace convoy {

struct DataParams {
  std::string train;  ///< a shard, a folder of shards, or a prefix such as data/fashion/train
  std::string val;    ///< data set that selects the best checkpoint and that patience follows; empty: test
  std::string test;
  bool shuffle = true;
  bool balanced = false;            ///< true: draws each class equally often
  std::int64_t loader_threads = 1;  ///< background threads per rank
  std::string stage = "none";       ///< copies the shards before reading them: "memory", or to a folder of the node
  VerifyKind verify = VerifyKind::kEpoch;  ///< how often a sample's bytes are compared with their hash
  bool allow_part = false;                 ///< true: `train` may be one shard of several
  bool operator==(const DataParams&) const = default;
};

/// A number for each channel of the images, for values in [0, 1] (bytes / 255).
struct ChannelValues {
  bool imagenet = false;       ///< true: those of ImageNet, with which torchvision's weights were trained
  std::vector<double> values;  ///< otherwise one for each channel, or one for all; empty: those of the training set

  bool are_of_data() const { return !imagenet && values.empty(); }
  bool operator==(const ChannelValues&) const = default;
};

struct AugmentParams {
  std::int64_t size = 0;                   ///< rows and columns of the network's input; 0: the images' own
  CropKind crop = CropKind::kPad;          ///< in training
  std::int64_t crop_padding = 0;           ///< pad: pixels of border before a random crop back to size
  BorderKind border = BorderKind::kBlack;  ///< what the border shows
  double scale = 0.08;                     ///< random_resized: smallest share of the image's area
  std::int64_t eval_resize = 0;  ///< pixels of the short side before the centre is cut out; 0: see key_table.cpp
  bool flip = false;             ///< true: flips left-right with probability 1/2
  double brightness = 0, contrast = 0, saturation = 0;  ///< ranges of the factors: 1 - this to 1 + this
  AutoAugmentKind policy = AutoAugmentKind::kNone;
  std::int64_t policy_operations = 2, policy_magnitude = 9;  ///< of RandAugment; magnitude 0..30
  std::int64_t cutout = 0;                                   ///< pixels: side of a square set to the mean
  double erase = 0;                                          ///< probability of random erasing
  double mixup = 0;                                          ///< alpha of Beta(alpha, alpha); 0: off
  double cutmix = 0;           ///< alpha of Beta(alpha, alpha); 0: off; with mixup: one of both for each micro-batch
  bool normalize = true;       ///< (x - mean) / stddev, channel by channel
  ChannelValues mean, stddev;  ///< by default from the training set
  bool mixes() const { return mixup > 0 || cutmix > 0; }
  bool operator==(const AugmentParams&) const = default;
};

struct ImportParams {
  ImportFormat format = ImportFormat::kAuto;
  std::string source;
  std::string output;
  StorageKind storage = StorageKind::kRaw;
  std::int64_t size = 0;  ///< rows and columns of a raw image; 0: not resized
  ResizeKind resize = ResizeKind::kCrop;
  ChannelsKind channels = ChannelsKind::kAuto;
  bool orient = false;  ///< true: turns images as their Exif orientation says
  TokenizerKind tokenizer = TokenizerKind::kWords;
  std::int64_t vocabulary = 20'000;    ///< maximal number of tokens, including the special ones
  std::string text_column = "text";    ///< name of the tables' column
  std::string label_column = "label";  ///< name of the tables' column
  bool splits = true;                  ///< true: folders named train*, val* and test* are splits; false: classes
  double max_class_fraction = 0.1;     ///< maximal number of a table's classes, as a share of its texts
  double val_fraction = 0;             ///< share of each class of train that becomes the split val
  std::int64_t shards = 0;             ///< number of files per split; 0: one for every 128 MiB, at most 256
  bool strict = false;                 ///< true: the first bad file ends the import
  bool replace = false;                ///< true: replaces a data set in `output`
  bool operator==(const ImportParams&) const = default;
};

}  // namespace convoy
