/// Loader settings of a rank.
#include "train/input.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

LoaderSpec loader_spec(const Engine& engine, const Parameters& params) {
  const MicroBatchRange range = engine.micro_batches();
  return {.batch_global = params.batch.global,
          .batch_micro = params.batch.micro,
          .first_micro_batch = range.begin,
          .num_micro_batches = range.size(),
          .images = engine.grid().is_first_stage(),
          .labels = engine.grid().is_last_stage(),
          .threads = params.data.loader_threads,
          .type = engine.plan().spec().network.type};
}

namespace {

// Random crops show things enlarged: so does a centre, by 256 / 224. Where training sees whole images, evaluation does.
std::int64_t short_side(const AugmentParams& params) {
  if (params.eval_resize > 0 || params.crop == CropKind::kPad) return std::max(params.eval_resize, params.size);
  return (params.size * 256 + 112) / 224;
}

}  // namespace

AugmentationSpec training_augmentation(const Parameters& params) {
  AugmentationSpec spec = evaluation_augmentation(params.augment);
  spec.crop_padding = params.augment.crop_padding;
  spec.flip = params.augment.flip;
  spec.seed = params.train.seed;
  spec.crop = params.augment.crop;
  spec.least_share = params.augment.scale;
  spec.brightness = params.augment.brightness;
  spec.contrast = params.augment.contrast;
  spec.saturation = params.augment.saturation;
  spec.cutout = params.augment.cutout;
  return spec;
}

AugmentationSpec evaluation_augmentation(const AugmentParams& params) {
  return {.size = params.size, .short_side = short_side(params)};
}

void check_test_data(const io::DatasetInfo& train, const io::DatasetInfo& test, const AugmentParams& augment) {
  const bool same_input = augment.size > 0 ? train.image.c == test.image.c : train.image == test.image;
  if (!same_input)
    refuse("data.test holds {} images, data.train {}. Import both with one command.", to_string(test.image),
           to_string(train.image));
  if (train.class_names != test.class_names)
    refuse("data.test has other classes ({}) than data.train ({}). Import both with one command.",
           test.class_names.size(), train.class_names.size());
}

Augmenter make_augmenter(const io::DatasetInfo& info, const AugmentationSpec& spec, bool normalize) {
  if (normalize) return Augmenter(info.image, spec, info.channel_mean, info.channel_deviation);
  const auto channels = static_cast<std::size_t>(info.image.c);
  return Augmenter(info.image, spec, std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0));
}

}  // namespace convoy
