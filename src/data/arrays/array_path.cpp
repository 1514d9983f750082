/// Gives each array of the network as a feature, and what the network has to answer.
#include "data/arrays/array_path.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convoy/base/error.h"
#include "convoy/base/features.h"
#include "convoy/base/input_shape.h"
#include "convoy/base/text.h"
#include "convoy/io/sample_store.h"
#include "convoy/ops/softmax_cross_entropy.h"
#include "convoy/params/parameters.h"

#include "data/arrays/array_writer.h"
#include "data/refuse_keys.h"
#include "data/row_reader.h"

namespace convoy {

namespace {

// Returns the keys that arrays do not take, and the others at their defaults.
AugmentParams without_keys_of_arrays(AugmentParams asked) {
  const AugmentParams plain;
  asked.crop_padding = plain.crop_padding;
  asked.border = plain.border;
  asked.flip = plain.flip;
  asked.flip_rows = plain.flip_rows;
  asked.turn = plain.turn;
  asked.factor = plain.factor;
  asked.noise = plain.noise;
  asked.mixup = plain.mixup;
  asked.normalize = plain.normalize;
  return asked;
}

// "augment.flip = true", the first key that moves pixels.
std::string moving_key(const AugmentParams& params) {
  return params.flip        ? "augment.flip = true"
         : params.flip_rows ? "augment.flip_rows = true"
         : params.turn      ? "augment.turn = true"
                            : fmt::format("augment.crop_padding = {}", params.crop_padding);
}

// A field must have the pixels of the array that moves, so that both are moved alike.
void check_moved_field(const AugmentParams& params, const io::ArrayInfo& array, const Target& target) {
  const Shape &field = target.shape, pixels = array_shape(array.dims);
  if (target.is_field() && (field.d != 1 || field.h != pixels.h || field.w != pixels.w))
    refuse("{} moves the pixels of '{}', {} x {}, but the field that is answered has {} pixels. Leave it out",
           moving_key(params), array.name, pixels.h, pixels.w, io::describe_pixels(target));
}

void check_moves(const AugmentParams& params, const io::ArraysInput& read, const Target& target) {
  if (!moves_pixels(params)) return;
  const auto are_pixels = [](const io::ArrayInfo& array) { return has_rows_and_columns(array_shape(array.dims)); };
  if (std::ranges::count_if(read.inputs, are_pixels) != 1)
    refuse("{} moves the pixels of one array with rows and columns, but data.train holds {}. Leave it out",
           moving_key(params), io::describe_forms(read.inputs));
  const io::ArrayInfo& array = *std::ranges::find_if(read.inputs, are_pixels);
  const Shape shape = array_shape(array.dims);
  const std::int64_t height = shape.h, width = shape.w, max = std::min(height, width) - 1;
  if (params.turn && height != width)
    refuse("augment.turn = true needs as many rows as columns, but '{}' of data.train has {} x {}. Leave it out",
           array.name, height, width);
  if (params.border == BorderKind::kReflect && params.crop_padding > max)
    refuse("augment.crop_padding = {} with augment.border = reflect: '{}' of {} x {} pixels allows at most {}.",
           params.crop_padding, array.name, height, width, max);
  check_moved_field(params, array, target);
}

class ArrayPath final : public SamplePath {
 public:
  explicit ArrayPath(const SamplePathSpec& spec) : samples_(spec.samples), target_(spec.metadata.target) {
    if (spec.view == SampleView::kTraining) mixing_ = {.params = spec.params.augment, .seed = spec.params.train.seed};
    const std::int64_t n = spec.params.batch.micro;
    for (const io::ArrayInfo& array : spec.metadata.arrays()->inputs) add_input(array, spec);
    const std::size_t num_inputs = parts_.size();
    if (target_.kind == TargetKind::kClass) {
      features_.push_back({.name = features::kLabel, .spec = features::label_spec(n)});
    } else {
      if (target_.is_in_record()) add_target();
      features_.push_back(
          {.name = features::kTarget, .spec = features::target_spec(target_, n), .read_ahead = target_.is_in_record()});
    }
    if (num_inputs == 1 && features_.front().name != features::kImage) {
      FeatureSpec only = features_.front();
      only.name = features::kImage;
      features_.push_back(std::move(only));
    }
    if (target_.kind == TargetKind::kClass && mixing_.params.mixes())
      features_.push_back({.name = features::kMixedLabel, .spec = features::mixed_label_spec(n)});
  }

  const std::vector<FeatureSpec>& features() const override { return features_; }

  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override {
    const auto found = std::ranges::find(features_, feature, &FeatureSpec::name);
    if (found == features_.end() || !found->read_ahead) fail("arrays: {} is not read ahead", feature);
    const auto number = static_cast<std::size_t>(found - features_.begin());
    const ArrayPart& part = parts_[number < parts_.size() ? number : 0];  // features::kImage is the only array
    return make_row_reader(found->spec, backend,
                           [this, &part] { return std::make_unique<ArrayWriter>(samples_, part, mixing_); });
  }

  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override {
    const bool is_given = std::ranges::find(features_, feature, &FeatureSpec::name) != features_.end();
    const std::int64_t num = std::ssize(batch.samples);
    if (feature == features::kLabel && is_given) {
      for (std::int64_t i = 0; i < num; ++i) static_cast<std::int32_t*>(to)[i] = label(batch, i);
    } else if (feature == features::kMixedLabel && is_given) {
      for (std::int64_t i = 0; i < num; ++i) {
        const SampleMix mix = mixing_.draw(batch, i);
        static_cast<ops::MixedLabel*>(to)[i] = {.label = label(batch, mix.image.partner), .share = mix.label_share};
      }
    } else if (feature == features::kTarget && is_given) {
      look_up_targets(batch, static_cast<float*>(to));
    } else {
      fail("arrays: {} is not looked up", feature);
    }
  }

  std::string describe(std::int64_t sample) const override {
    return fmt::format("sample {} ('{}') of the arrays from {}", sample, excerpt(samples_.name(sample)),
                       excerpt(samples_.info().source));
  }

 private:
  void add_input(const io::ArrayInfo& read, const SamplePathSpec& spec) {
    const std::vector<io::ArrayInfo>& stored = samples_.info().arrays;
    const io::ArrayInfo* const array = io::find_array(stored, read.name);
    if (array == nullptr || array->dims != read.dims)
      fail("a network reads the array {} {}, but {} holds {}", read.name, io::describe_form(read),
           samples_.info().source, io::describe_forms(stored));
    const Shape shape = array_shape(read.dims);
    const bool normalizes = spec.metadata.arrays()->normalizes;
    const std::vector<double> none;
    parts_.push_back({.number = static_cast<std::size_t>(array - stored.data()),
                      .shape = shape,
                      .converter = {array->type, normalizes ? read.mean : none, normalizes ? read.stddev : none,
                                    array->fills_missing || read.fills_missing ? read.mean : none},
                      .editor = {mixing_.params, mixing_.seed, shape, parts_.size(), has_rows_and_columns(shape)}});
    FeatureSpec feature{.name = read.name, .spec = {.shape = shape, .type = spec.type}, .read_ahead = true};
    feature.spec.shape.n = spec.params.batch.micro;
    features_.push_back(std::move(feature));
  }

  // A field is moved as the array with its pixels, with the same random numbers. What comes from outside is not known.
  void add_target() {
    AugmentParams params = mixing_.params;
    params.factor = params.noise = 0;
    parts_.push_back({.is_target = true,
                      .shape = target_.shape,
                      .converter = {ElementType::kFloat32, {}, {}},
                      .editor = {params, mixing_.seed, target_.shape, parts_.size(), target_.is_field(), kNotKnown},
                      .padding = kNotKnown});
  }

  std::int32_t label(const BatchSamples& batch, std::int64_t i) const {
    const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
    return sample == kNoSample ? ops::kNoLabel : samples_.label(sample);
  }

  void read_target(const BatchSamples& batch, std::int64_t i, std::span<float> values) const {
    const std::int64_t sample = batch.samples[static_cast<std::size_t>(i)];
    if (sample == kNoSample)
      std::ranges::fill(values, kNotKnown);
    else
      samples_.read_target(sample, values);
  }

  void look_up_targets(const BatchSamples& batch, float* to) const {
    const auto count = static_cast<std::size_t>(target_.shape.count());
    std::array<float, io::kMaxTargetValues> of_partner;
    const std::span partner = std::span(of_partner).first(count);
    for (std::int64_t i = 0; i < std::ssize(batch.samples); ++i, to += count) {
      read_target(batch, i, {to, count});
      const ops::ImageMix mix = mixing_.draw(batch, i).image;
      if (mix.share == 0) continue;
      read_target(batch, mix.partner, partner);
      mix_values(mix.share, {to, count}, partner);
    }
  }

  static constexpr float kNotKnown = std::numeric_limits<float>::quiet_NaN();

  const io::SampleStore& samples_;
  Target target_;
  ArrayMixing mixing_;
  std::vector<ArrayPart> parts_;       ///< the inputs, then the target if it is read ahead
  std::vector<FeatureSpec> features_;  ///< first one for each of parts_, in this order
};

}  // namespace

std::unique_ptr<SamplePath> make_array_path(const SamplePathSpec& spec) {
  const io::DatasetInfo& data = spec.samples.info();
  refuse_augmentation(without_keys_of_arrays(spec.params.augment), data);
  refuse_mirrors(spec.view, data);
  if (spec.metadata.arrays() == nullptr)
    fail("a network of {} cannot read the arrays from {}", spec.metadata.kind(), data.source);
  check_moves(spec.params.augment, *spec.metadata.arrays(), spec.metadata.target);
  return std::make_unique<ArrayPath>(spec);
}

}  // namespace convoy
