/// From parameters and data to a metadata.
#include "checkpoint/model_metadata.h"

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

io::ImageInput image_input(const AugmentParams& params, const io::DatasetInfo& train) {
  return {.shape = network_image(params, train),
          .resizes = params.size > 0,
          .short_side = short_side(params),
          .orients = train.oriented,
          .normalizes = params.normalize,
          .channel_mean = train.channel_mean,
          .channel_stddev = train.channel_stddev};
}

void resize(io::ImageInput& input, const AugmentParams& params) {
  if (params.size > 0) {
    // The same share of the short side is seen.
    input.short_side =
        input.resizes ? (input.short_side * params.size + input.shape.h / 2) / input.shape.h : params.size;
    input.shape.h = input.shape.w = params.size;
    input.resizes = true;
  }
  if (params.eval_resize > 0) input.short_side = params.eval_resize;
}

void check_images(const io::ImageInput& input, const io::DatasetInfo& data, const std::string& key,
                  const std::string& owner) {
  const ImageShape& image = input.shape;
  const auto colours = [](std::int64_t channels) { return channels == 1 ? "grey" : "in colour"; };
  if (data.image.c != image.c)
    refuse("{} holds images {} ({} channels), {} takes them {} ({}). Import them with import.channels = {}.", key,
           colours(data.image.c), data.image.c, owner, colours(image.c), image.c, image.c);
  if (!input.resizes && data.image != image && image.h != image.w)
    refuse(
        "{} holds {}, {} takes {}. Images are resized to squares only: import images that have this size, with "
        "import.size = 0.",
        key, data.encoded ? "files of images" : fmt::format("{} images", to_string(data.image)), owner,
        to_string(image));
}

}  // namespace

io::ModelMetadata model_metadata(const Parameters& params, const io::DatasetInfo& train) {
  io::ModelMetadata metadata{
      .name = params.model.name, .transformer = params.transformer, .class_names = train.class_names};
  if (train.kind == input_kinds::kText)
    metadata.input = io::TextInput{
        .length = params.model.length, .tokenization = train.text.tokenization, .columns = train.text.columns};
  else
    metadata.input = image_input(params.augment, train);
  return metadata;
}

io::ModelMetadata with_size(io::ModelMetadata metadata, const AugmentParams& params) {
  if (auto* const image = std::get_if<io::ImageInput>(&metadata.input)) resize(*image, params);
  return metadata;
}

void check_vocabulary(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                      const std::string& owner) {
  const io::TextInput* const text = metadata.text();
  if (text != nullptr && data.kind == input_kinds::kText && data.text.tokenization != text->tokenization)
    refuse("{} was imported with another vocabulary than {}. Import both with one command.", key, owner);
}

void check_samples(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner) {
  if (data.kind != metadata.kind())
    refuse("{} holds {}, {} takes {}. Give a data set of {}.", key, data.kind, owner, metadata.kind(), metadata.kind());
  if (metadata.text() == nullptr) return check_images(metadata.image(), data, key, owner);
  check_vocabulary(metadata, data, key, owner);
}

std::string describe_resizing(const io::ModelMetadata& metadata, const io::DatasetInfo& data) {
  if (data.kind != input_kinds::kImages || data.encoded || data.image == metadata.image().shape) return "";
  return fmt::format("images: {}, resized to {}\n", to_string(data.image), to_string(metadata.image().shape));
}

void check_classes(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner) {
  const auto &mine = metadata.class_names, &theirs = data.class_names;
  if (mine == theirs) return;
  if (mine.size() != theirs.size())
    refuse("{} has other classes ({}) than {} ({}). Import both with one command.", key, theirs.size(), owner,
           mine.size());
  const auto [own, other] = std::mismatch(mine.begin(), mine.end(), theirs.begin());
  refuse("{} has other classes than {}: number {} is '{}', not '{}'. Import both with one command.", key, owner,
         own - mine.begin(), *other, *own);
}

}  // namespace convoy
