/// Gives each array of the network as a feature, and what the network has to answer.
#include "data/arrays/array_path.h"

#include <algorithm>
#include <cstdint>
#include <limits>
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

class ArrayPath final : public SamplePath {
 public:
  explicit ArrayPath(const SamplePathSpec& spec) : samples_(spec.samples), target_(spec.metadata.target) {
    const std::int64_t n = spec.params.batch.micro;
    const io::ArraysInput& read = *spec.metadata.arrays();
    for (const io::ArrayInfo& array : read.inputs)
      add_input(array, read.normalizes, {.shape = {.n = n}, .type = spec.type});
    if (inputs_.size() == 1 && features_.front().name != features::kImage) {
      FeatureSpec only = features_.front();
      only.name = features::kImage;
      features_.push_back(std::move(only));
    }
    if (target_.kind == TargetKind::kClass)
      features_.push_back({.name = features::kLabel, .spec = features::label_spec(n)});
    else
      features_.push_back({.name = features::kTarget, .spec = features::target_spec(target_, n)});
  }

  const std::vector<FeatureSpec>& features() const override { return features_; }

  std::unique_ptr<FeatureReader> open(std::string_view feature, ops::Backend& backend) const override {
    const auto found = std::ranges::find(features_, feature, &FeatureSpec::name);
    if (found == features_.end() || !found->read_ahead) fail("arrays: {} is not read ahead", feature);
    const auto number = static_cast<std::size_t>(found - features_.begin());
    const ArrayInput& input = inputs_[number < inputs_.size() ? number : 0];  // features::kImage is the only array
    return make_row_reader(found->spec, backend,
                           [this, &input] { return std::make_unique<ArrayWriter>(samples_, input); });
  }

  void look_up(std::string_view feature, const BatchSamples& batch, void* to) const override {
    if (feature == features::kLabel && target_.kind == TargetKind::kClass) {
      std::ranges::transform(batch.samples, static_cast<std::int32_t*>(to),
                             [&](std::int64_t s) { return s == kNoSample ? ops::kNoLabel : samples_.label(s); });
    } else if (feature == features::kTarget && target_.kind != TargetKind::kClass) {
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
  // `of_batch` has the number of samples and the type of the feature.
  void add_input(const io::ArrayInfo& read, bool normalizes, TensorSpec of_batch) {
    const std::vector<io::ArrayInfo>& stored = samples_.info().arrays;
    const io::ArrayInfo* const array = io::find_array(stored, read.name);
    if (array == nullptr || array->dims != read.dims)
      fail("a network reads the array {} {}, but {} holds {}", read.name, io::describe_form(read),
           samples_.info().source, io::describe_forms(stored));
    const Shape shape = array_shape(read.dims);
    const std::vector<double> none;
    inputs_.push_back({.number = static_cast<std::size_t>(array - stored.data()),
                       .shape = shape,
                       .converter = {array->type, normalizes ? read.mean : none, normalizes ? read.stddev : none}});
    const std::int64_t n = of_batch.shape.n;
    of_batch.shape = shape;
    of_batch.shape.n = n;
    features_.push_back({.name = read.name, .spec = of_batch, .read_ahead = true});
  }

  void look_up_targets(const BatchSamples& batch, float* to) const {
    const auto count = static_cast<std::size_t>(target_.shape.count());
    for (const std::int64_t sample : batch.samples) {
      const std::span values(to, count);
      if (sample == kNoSample)
        std::ranges::fill(values, std::numeric_limits<float>::quiet_NaN());
      else
        samples_.read_target(sample, values);
      to += count;
    }
  }

  const io::SampleStore& samples_;
  Target target_;
  std::vector<ArrayInput> inputs_;
  std::vector<FeatureSpec> features_;  ///< first one for each of inputs_, in this order
};

}  // namespace

std::unique_ptr<SamplePath> make_array_path(const SamplePathSpec& spec) {
  AugmentParams asked = spec.params.augment;
  asked.normalize = AugmentParams{}.normalize;
  refuse_keys_of_images(asked, spec.view, spec.samples.info());
  if (spec.metadata.arrays() == nullptr)
    fail("a network of {} cannot read the arrays from {}", spec.metadata.kind(), spec.samples.info().source);
  return std::make_unique<ArrayPath>(spec);
}

}  // namespace convoy
