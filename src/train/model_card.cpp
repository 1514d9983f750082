/// From parameters and data to a card, from a card to augmentations.
#include "train/model_card.h"

#include <algorithm>

#include "convoy/base/error.h"

namespace convoy {

namespace {

ImageShape network_image(const AugmentParams& params, const io::DatasetInfo& info) {
  if (params.size > 0) return {params.size, params.size, info.image.c};
  if (info.encoded)
    refuse(
        "augment.size = 0 takes images as they are stored, but data.train holds files of different sizes "
        "(import.storage = encoded). Give the rows and columns that they are brought to, as in augment.size = 224.");
  return info.image;
}

// Random crops show things enlarged: so does a centre, by 256 / 224. Where training sees whole images, evaluation does.
std::int64_t short_side(const AugmentParams& params) {
  if (params.eval_resize > 0 || params.crop == CropKind::kPad) return std::max(params.eval_resize, params.size);
  return (params.size * 256 + 112) / 224;
}

}  // namespace

io::ModelCard model_card(const Parameters& params, const io::DatasetInfo& train) {
  return {.name = params.model.name,
          .image = network_image(params.augment, train),
          .resizes = params.augment.size > 0,
          .short_side = short_side(params.augment),
          .orients = train.oriented,
          .normalizes = params.augment.normalize,
          .channel_mean = train.channel_mean,
          .channel_deviation = train.channel_deviation,
          .class_names = train.class_names};
}

io::ModelCard with_size(io::ModelCard card, const AugmentParams& params) {
  if (params.size > 0) {
    // The same share of the short side is seen.
    card.short_side = card.resizes ? (card.short_side * params.size + card.image.h / 2) / card.image.h : params.size;
    card.image.h = card.image.w = params.size;
    card.resizes = true;
  }
  if (params.eval_resize > 0) card.short_side = params.eval_resize;
  return card;
}

void check_images(const io::ModelCard& card, const io::DatasetInfo& data, const std::string& key,
                  const std::string& owner) {
  const ImageShape& image = card.image;
  const auto colours = [](std::int64_t channels) { return channels == 1 ? "grey" : "in colour"; };
  if (data.image.c != image.c)
    refuse("{} holds images {} ({} channels), {} takes them {} ({}). Import them with import.channels = {}.", key,
           colours(data.image.c), data.image.c, owner, colours(image.c), image.c, image.c);
  if (!card.resizes && data.image != image && image.h != image.w)
    refuse(
        "{} holds {}, {} takes {}. Images are resized to squares only: import images that have this size, with "
        "import.size = 0.",
        key, data.encoded ? "files of images" : fmt::format("{} images", to_string(data.image)), owner,
        to_string(image));
}

std::string describe_resizing(const io::ModelCard& card, const io::DatasetInfo& data) {
  if (data.encoded || data.image == card.image) return "";
  return fmt::format("images: {}, resized to {}\n", to_string(data.image), to_string(card.image));
}

void check_classes(const io::ModelCard& card, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner) {
  const auto &mine = card.class_names, &theirs = data.class_names;
  if (mine == theirs) return;
  if (mine.size() != theirs.size())
    refuse("{} has other classes ({}) than {} ({}). Import both with one command.", key, theirs.size(), owner,
           mine.size());
  const auto [own, other] = std::mismatch(mine.begin(), mine.end(), theirs.begin());
  refuse("{} has other classes than {}: number {} is '{}', not '{}'. Import both with one command.", key, owner,
         own - mine.begin(), *other, *own);
}

AugmentationSpec evaluation_augmentation(const io::ModelCard& card, const io::DatasetInfo& data) {
  if (card.resizes) return {.size = card.image.h, .short_side = card.short_side};
  return {.size = data.image == card.image ? 0 : card.image.h};  // the images that were trained on were not resized
}

AugmentationSpec training_augmentation(const io::ModelCard& card, const io::DatasetInfo& data,
                                       const Parameters& params) {
  const std::int64_t most = std::min(card.image.h, card.image.w) - 1;
  if (params.augment.border == BorderKind::kReflect && params.augment.crop_padding > most)
    refuse("augment.crop_padding = {} with augment.border = reflect: images of {} x {} pixels reflect at most {}.",
           params.augment.crop_padding, card.image.h, card.image.w, most);
  AugmentationSpec spec = evaluation_augmentation(card, data);
  spec.crop_padding = params.augment.crop_padding;
  spec.border = params.augment.border;
  spec.flip = params.augment.flip ? Flip::kRandom : Flip::kNever;
  spec.seed = params.train.seed;
  spec.crop = params.augment.crop;
  spec.least_share = params.augment.scale;
  spec.brightness = params.augment.brightness;
  spec.contrast = params.augment.contrast;
  spec.saturation = params.augment.saturation;
  spec.cutout = params.augment.cutout;
  spec.mixup = params.augment.mixup;
  return spec;
}

Augmenter make_augmenter(const io::ModelCard& card, const io::DatasetInfo& data, const AugmentationSpec& spec) {
  if (card.normalizes) return Augmenter(data.image, spec, card.channel_mean, card.channel_deviation);
  const auto channels = static_cast<std::size_t>(card.image.c);
  return Augmenter(data.image, spec, std::vector<double>(channels, 0.0), std::vector<double>(channels, 1.0));
}

}  // namespace convoy
