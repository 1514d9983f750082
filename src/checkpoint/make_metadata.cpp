/// Makes metadata from parameters and data.
#include "checkpoint/make_metadata.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "convoy/base/error.h"
#include "convoy/base/text.h"
#include "convoy/base/wording.h"
#include "convoy/comm/on_root.h"
#include "convoy/io/atomic_file.h"
#include "convoy/params/parameters.h"

namespace convoy {

namespace {

ImageShape network_image(const AugmentParams& params, const io::DatasetInfo& info) {
  if (params.size > 0) return {params.size, params.size, info.image.c};
  if (info.encoded)
    refuse(
        "augment.size = 0 keeps the stored size of images, but data.train holds files of different sizes "
        "(import.storage = encoded). Give the size that they are resized to, as in augment.size = 224.");
  return info.image;
}

// Returns the short side before the crop of an evaluation. Random crops show things enlarged: a centre does, too, by
// 256 / 224. If training sees whole images, evaluation does, too.
std::int64_t short_side(const AugmentParams& params) {
  if (params.eval_resize > 0 || params.crop == CropKind::kPad) return std::max(params.eval_resize, params.size);
  return (params.size * 256 + 112) / 224;
}

// torchvision's values for RGB images.
const std::vector<double> kImageNetMean = {0.485, 0.456, 0.406}, kImageNetStddev = {0.229, 0.224, 0.225};

std::vector<double> channel_values(const char* key, const ChannelValues& asked, const std::vector<double>& imagenet,
                                   const std::vector<double>& of_data, std::int64_t channels) {
  if (asked.are_of_data()) return of_data;
  const std::vector<double>& values = asked.imagenet ? imagenet : asked.values;
  if (values.size() == 1) return std::vector<double>(static_cast<std::size_t>(channels), values.front());
  if (std::ssize(values) != channels)
    refuse("{} = {} has {} numbers, but the images of data.train have {}. Give {}.", key,
           asked.imagenet ? "imagenet" : fmt::format("{}", fmt::join(values, ", ")), values.size(),
           channels == 1 ? "1 channel" : fmt::format("{} channels", channels),
           channels == 1 ? "one number" : fmt::format("{} numbers, or one for all channels", channels));
  return values;
}

bool is_of_data(const AugmentParams& params) {
  return params.mean.are_of_data() && params.stddev.are_of_data();
}

io::ImageInput image_input(const AugmentParams& params, const io::DatasetInfo& train) {
  const std::int64_t channels = train.image.c;
  return {.shape = network_image(params, train),
          .resizes = params.size > 0,
          .short_side = short_side(params),
          .orients = train.oriented,
          .normalizes = params.normalize,
          .channel_mean = channel_values("augment.mean", params.mean, kImageNetMean, train.channel_mean, channels),
          .channel_stddev =
              channel_values("augment.stddev", params.stddev, kImageNetStddev, train.channel_stddev, channels)};
}

// Statistics are those of the data: no key gives others.
io::ArraysInput arrays_input(const AugmentParams& params, const io::DatasetInfo& train) {
  if (!is_of_data(params))
    refuse(
        "augment.mean and augment.stddev are those of images, but data.train holds arrays. Leave them out: arrays are "
        "normalised by their own statistics.");
  return {.inputs = train.arrays, .normalizes = params.normalize};
}

void resize(io::ImageInput& input, const AugmentParams& params) {
  if (params.size > 0) {
    // The same share of the short side is seen as before.
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
  const auto images_of = [](std::int64_t channels) {
    return fmt::format("{} images ({})", channels == 1 ? "grey" : "colour", counted(channels, "channel"));
  };
  if (data.image.c != image.c)
    refuse("{} holds {}, but the network of {} reads {}. Import them with import.channels = {}.", key,
           images_of(data.image.c), owner, images_of(image.c), image.c);
  if (!input.resizes && data.image != image && image.h != image.w)
    refuse(
        "{} holds {}, but the network of {} reads {} images. Convoy resizes images only to squares: import images that "
        "already have this size, with import.size = 0.",
        key, data.encoded ? "files of images" : fmt::format("{} images", to_string(data.image)), owner,
        to_string(image));
}

// Each array that the network reads must be in the data with the same extents and the same columns. Types may differ,
// and there may be more arrays.
void check_arrays(const io::ArraysInput& input, const io::DatasetInfo& data, const std::string& key,
                  const std::string& owner) {
  for (const io::ArrayInfo& read : input.inputs) {
    const io::ArrayInfo* const found = io::find_array(data.arrays, read.name);
    if (found == nullptr)
      refuse(
          "{} has no array '{}', which the network of {} reads. It has: {}. An import calls it so with import.inputs = "
          "\"{}: WHERE\".",
          key, read.name, owner, io::describe_forms(data.arrays), read.name);
    if (found->dims != read.dims)
      refuse(
          "{}: the array '{}' of a sample is {}, but the network of {} reads {} as its input '{}'. Give samples of "
          "this shape, or train a network on these.",
          key, read.name, io::describe_form(*found), owner, io::describe_form(read), read.name);
    if (found->channel_names.empty() || read.channel_names.empty()) continue;
    const auto [own, other] = std::ranges::mismatch(read.channel_names, found->channel_names);
    if (own != read.channel_names.end())
      refuse("{}: column {} of '{}' (counted from 0) is '{}', but the network of {} reads '{}' there.", key,
             own - read.channel_names.begin(), read.name, *other, owner, *own);
  }
}

// Reads the file of a network, which messages call as the user does.
NetworkSource read_network(const std::string& path) try {
  const FileDescriptor file = io::open_for_reading(path);
  const auto size = static_cast<std::int64_t>(io::file_size(file, path));
  if (size > kMaxNetworkFileBytes) fail("'{}' is larger than {}", path, human_bytes(kMaxNetworkFileBytes));
  std::string text(static_cast<std::size_t>(size), '\0');
  io::read_at(file, 0, std::as_writable_bytes(std::span(text)), path);
  return {.name = path, .text = std::move(text)};
} catch (const Error& error) {
  refuse("model.file = {}: {}", path, error.what());
}

void build_network(const Parameters& params, io::ModelMetadata& metadata) {
  NetworkRequest request = network_request(params);
  request.input = metadata.shape();
  request.num_classes = std::ssize(metadata.class_names);
  request.target = metadata.target;
  const BuiltNetwork built = build_network_list(request);
  metadata.network = to_text(built.list);
  metadata.network_file = built.source.text;
}

}  // namespace

NetworkRequest network_request(const Parameters& params) {
  NetworkRequest request{.name = params.model.name, .settings = parse_network_settings(params.model.set)};
  request.settings.merge(network_settings(params.transformer, params.model.stochastic_depth));
  if (!params.model.file.empty()) request.file = read_network(params.model.file);
  return request;
}

io::ModelMetadata model_metadata(const Parameters& params, const io::DatasetInfo& train,
                                 const mpi::Communicator* ranks) {
  io::ModelMetadata metadata{
      .name = params.model.file.empty() ? params.model.name : std::filesystem::path(params.model.file).stem().string(),
      .class_names = train.class_names,
      .target = train.target};
  if (train.kind == input_kinds::kText)
    metadata.input = io::TextInput{
        .length = params.model.length, .tokenization = train.text.tokenization, .columns = train.text.columns};
  else if (train.kind == input_kinds::kArrays)
    metadata.input = arrays_input(params.augment, train);
  else
    metadata.input = image_input(params.augment, train);
  if (ranks == nullptr) {
    build_network(params, metadata);
    return metadata;
  }
  mpi::on_root(*ranks, [&] { build_network(params, metadata); });
  metadata.network = ranks->broadcast(metadata.network, 0);
  metadata.network_file = ranks->broadcast(metadata.network_file, 0);
  return metadata;
}

io::ModelMetadata with_size(io::ModelMetadata metadata, const AugmentParams& params) {
  if (auto* const image = std::get_if<io::ImageInput>(&metadata.input)) resize(*image, params);
  return metadata;
}

std::string describe_new_normalisation(const Parameters& params, const io::ModelMetadata& metadata,
                                       const std::optional<io::ModelMetadata>& of_file, const std::string& owner) {
  if (!metadata.reads_images()) return "";
  const io::ImageInput& now = metadata.image();
  const std::string here = io::describe_normalisation(now);
  if (!of_file) {
    if (!is_of_data(params.augment) || !now.normalizes) return "";
    const bool is_colour = now.shape.c == std::ssize(kImageNetMean);
    return fmt::format("{} does not say how its images were normalised. This run uses {}, from data.train{}", owner,
                       here,
                       is_colour ? ". torchvision's weights were trained with augment.mean = imagenet, augment.stddev "
                                   "= imagenet"
                                 : "");
  }
  if (!of_file->reads_images()) return "";
  const io::ImageInput& then = of_file->image();
  // Compares the texts that are shown: the values of a data set that is split anew differ in digits that change
  // nothing.
  if (io::describe_normalisation(then) == here || now.shape.c != then.shape.c) return "";
  const std::string keys =
      then.normalizes
          ? fmt::format("{}augment.mean = {}, augment.stddev = {}", now.normalizes ? "" : "augment.normalize = true, ",
                        fmt::join(then.channel_mean, ", "), fmt::join(then.channel_stddev, ", "))
          : "augment.normalize = false";
  return fmt::format("{} was trained with {}, but this run uses {}. To keep the normalisation of the file, set {}",
                     owner, io::describe_normalisation(then), here, keys);
}

std::string describe_ignored_normalisation(const AugmentParams& params, const io::ModelMetadata& metadata,
                                           const std::string& owner) {
  if (!metadata.reads_images() || is_of_data(params)) return "";
  const io::ImageInput& image = metadata.image();
  const auto asks_for_others = [&](const ChannelValues& asked, const std::vector<double>& imagenet,
                                   const std::vector<double>& own) {
    if (asked.are_of_data()) return false;
    const std::vector<double>& values = asked.imagenet ? imagenet : asked.values;
    const bool is_for_all = values.size() == 1;
    const auto is_value = [&](double value) { return value == values.front(); };
    return !image.normalizes || (is_for_all ? !std::ranges::all_of(own, is_value) : values != own);
  };
  if (!asks_for_others(params.mean, kImageNetMean, image.channel_mean) &&
      !asks_for_others(params.stddev, kImageNetStddev, image.channel_stddev))
    return "";
  return fmt::format("augment.mean and augment.stddev have no effect: {} is used as it was trained, with {}", owner,
                     io::describe_normalisation(image));
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
    refuse("{} holds {}, but the network of {} reads {}. Give a data set of {}.", key, data.kind, owner,
           metadata.kind(), metadata.kind());
  if (metadata.reads_images()) return check_images(metadata.image(), data, key, owner);
  if (metadata.arrays() != nullptr) return check_arrays(*metadata.arrays(), data, key, owner);
  check_vocabulary(metadata, data, key, owner);
}

std::string describe_resizing(const io::ModelMetadata& metadata, const io::DatasetInfo& data) {
  if (data.kind != input_kinds::kImages || data.encoded || data.image == metadata.image().shape) return "";
  return fmt::format("images: {}, resized to {}\n", to_string(data.image), to_string(metadata.image().shape));
}

void check_classes(const io::ModelMetadata& metadata, const io::DatasetInfo& data, const std::string& key,
                   const std::string& owner, const std::string& remedy) {
  const auto &mine = metadata.class_names, &theirs = data.class_names;
  const char* const outputs = outputs_of(metadata.target.kind);
  if (metadata.target.kind != data.target.kind)
    refuse("{} has {} as targets, but {} has {}. {}", key, outputs_of(data.target.kind), owner, outputs, remedy);
  if (metadata.target.dims != data.target.dims)
    refuse(
        "{}: the target of a sample is {}, with channels last, but that of {} is {}. Give samples whose targets have "
        "this shape, or train a network on these.",
        key, io::describe_extents(data.target, std::ssize(theirs)), owner,
        io::describe_extents(metadata.target, std::ssize(mine)));
  if (mine == theirs) return;
  if (mine.size() != theirs.size())
    refuse("{} has {} {}, but {} has {}. {}", key, theirs.size(), outputs, owner, mine.size(), remedy);
  const auto [own, other] = std::mismatch(mine.begin(), mine.end(), theirs.begin());
  refuse("{} has other {} than {}: {} {} (counted from 0) is '{}', not '{}'. {}", key, outputs, owner,
         metadata.target.kind == TargetKind::kClass ? "class" : "name", own - mine.begin(), *other, *own, remedy);
}

}  // namespace convoy
