/// A small data set, every way in which its images reach a network, and what a loader must give, computed directly.
#pragma once

#include <cstring>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/features.h"
#include "convoy/data/loader.h"
#include "convoy/device/device.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/images/image_path.h"
#include "emulation/emulated_backend.h"
#include "reference/image_batch.h"
#include "reference/storage.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"

namespace convoy {

inline constexpr std::int64_t kNumSamples = 50;
inline constexpr ImageShape kImage{6, 5, 3};
inline constexpr std::int64_t kBatch = 16;  // 4 steps per epoch, 14 padding samples at the end
inline constexpr std::int64_t kStepsPerEpoch = 4;

/// The way in which images reach the network, and their type.
struct Way {
  std::string name;
  std::unique_ptr<ops::Backend> (*make_backend)();
  DataType type;
};

inline std::unique_ptr<ops::Backend> make_cpu_backend() {
  return ops::make_backend({.device = DeviceKind::kCpu, .threads = 1});
}

inline void PrintTo(const Way& way, std::ostream* out) {  // NOLINT: GoogleTest looks for this name
  *out << way.name;
}

struct MicroBatch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const MicroBatch&) const = default;
};

/// What a rank reads of images, and their type.
struct ImageLoaderSpec : LoaderSpec {
  DataType type = DataType::kFloat32;
  bool images = true, labels = true;
};

/// A loader with its path.
class ImageLoader {
 public:
  ImageLoader(const io::SampleStore& samples, const Sampler& sampler, const Augmenter& augmenter, ops::Backend& backend,
              const ImageLoaderSpec& spec)
      : path_(samples, augmenter, spec.batch_micro, spec.type),
        loader_(path_, sampler, backend, with_features(spec, path_)) {}

  void begin_step() { loader_.begin_step(); }
  void load(std::string_view feature, std::int64_t micro_batch, void* to) { loader_.load(feature, micro_batch, to); }
  std::span<const std::uint8_t> bad_flags() const { return loader_.bad_flags(); }
  std::vector<BadSample> take_bad() { return loader_.take_bad(); }
  double wait_seconds() const { return loader_.wait_seconds(); }

 private:
  static LoaderSpec with_features(const ImageLoaderSpec& spec, const ImagePath& path) {
    LoaderSpec with = spec;
    for (const FeatureSpec& feature : path.features()) {
      const bool is_image = feature.name == features::kImage;
      if (is_image ? spec.images : spec.labels)
        with.features.push_back({.name = feature.name, .spec = feature.spec, .by_host = !is_image});
    }
    return with;
  }

  ImagePath path_;
  Loader loader_;
};

/// 50 known images in three shards, and what a loader must make of them.
class LoaderFixture : public testing::TestWithParam<Way> {
 protected:
  LoaderFixture() {
    test::DatasetContent content = test::make_content({kImage, kNumSamples, 4});
    test::write_dataset(directory_.path(), "train", 3, content);
    dataset_ = std::make_unique<io::Dataset>(directory_ / "train", "data.train");
  }

  static ImageLoaderSpec whole_batch(std::int64_t micro) {
    ImageLoaderSpec spec;
    spec.type = GetParam().type;
    spec.batch_global = kBatch;
    spec.batch_micro = micro;
    spec.num_micro_batches = kBatch / micro;
    spec.num_steps = 10;
    spec.steps_per_epoch = kStepsPerEpoch;
    return spec;
  }

  MicroBatch direct(std::int64_t step, std::int64_t micro_batch, std::int64_t micro) const {
    MicroBatch batch;
    batch.images.resize(static_cast<std::size_t>(micro * kImage.count()));
    for (std::int64_t i = 0; i < micro; ++i) {
      const std::int64_t epoch = step / kStepsPerEpoch;
      const std::int64_t position = step % kStepsPerEpoch * kBatch + micro_batch * micro + i;
      float* const out = batch.images.data() + i * kImage.count();
      if (position >= kNumSamples) {
        for (std::int64_t k = 0; k < kImage.count(); ++k) out[k] = -1.0f;  // (0 / 255 - 0.25) / 0.25, in any type
        batch.labels.push_back(ops::kNoLabel);
        continue;
      }
      const std::int64_t sample = sampler_.sample(epoch, position);
      const reference::Array values =
          reference::image_batch({.x = kImage.batch(1), .value_of = augmenter_.value_of()},
                                 test::read_sample(*dataset_, sample), {augmenter_.cut(epoch, sample)});
      for (std::size_t k = 0; k < values.size(); ++k)
        out[k] = static_cast<float>(reference::rounded(GetParam().type, values[k]));
      batch.labels.push_back(test::known_label(sample, 4));
    }
    return batch;
  }

  Buffer make_x(std::int64_t micro) const {
    return {backend_->device(), micro * kImage.count() * size_of(GetParam().type)};
  }

  std::vector<float> values_of(const Buffer& x) const {
    const std::int64_t size = size_of(GetParam().type);
    std::vector<std::byte> bytes(static_cast<std::size_t>(x.size_bytes()));
    backend_->device().copy_to_host(bytes.data(), x.data(), x.size_bytes());
    std::vector<float> values(static_cast<std::size_t>(x.size_bytes() / size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, bytes.data() + static_cast<std::int64_t>(i) * size, static_cast<std::size_t>(size));
      values[i] = static_cast<float>(reference::decoded(GetParam().type, bits));
    }
    return values;
  }

  /// Loads the next step, first all its images, then its labels, as a pipeline of one stage may.
  std::vector<MicroBatch> load_step(ImageLoader& loader, const ImageLoaderSpec& spec) const {
    loader.begin_step();
    std::vector<MicroBatch> batches(static_cast<std::size_t>(spec.num_micro_batches));
    for (std::int64_t m = 0; m < spec.num_micro_batches && spec.images; ++m) {
      const Buffer x = make_x(spec.batch_micro);
      loader.load(features::kImage, m, x.data());
      batches[static_cast<std::size_t>(m)].images = values_of(x);
    }
    for (std::int64_t m = 0; m < spec.num_micro_batches && spec.labels; ++m) {
      batches[static_cast<std::size_t>(m)].labels.resize(static_cast<std::size_t>(spec.batch_micro));
      loader.load(features::kLabel, m, batches[static_cast<std::size_t>(m)].labels.data());
    }
    return batches;
  }

  test::TemporaryDirectory directory_;
  std::unique_ptr<io::Dataset> dataset_;
  Sampler sampler_{{.num_samples = kNumSamples, .seed = 9}};
  Augmenter augmenter_{
      kImage, {.params = {.crop_padding = 2, .flip = true}, .seed = 9}, {0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}};
  std::unique_ptr<ops::Backend> backend_ = GetParam().make_backend();
};

inline const auto kWays =
    testing::Values(Way{"OnTheHostAsF32", make_cpu_backend, DataType::kFloat32},
                    Way{"OnTheHostAsBf16", make_cpu_backend, DataType::kBfloat16},
                    Way{"OnTheDeviceAsF32", emulation::make_emulated_backend, DataType::kFloat32},
                    Way{"OnTheDeviceAsBf16", emulation::make_emulated_backend, DataType::kBfloat16},
                    Way{"OnTheDeviceAsFp16", emulation::make_emulated_backend, DataType::kFloat16});
inline const auto kNameOf = [](const auto& instance) { return instance.param.name; };

}  // namespace convoy
