/// The loader gives each layout the same samples, in order, however many threads read ahead, whether they or the device
/// prepare the images; and it ends when told to.
#include "convoy/data/loader.h"

#include <chrono>
#include <cstring>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/io/shard_writer.h"
#include "convoy/ops/softmax_cross_entropy.h"

#include "data/mixup.h"
#include "data/prepare_image.h"
#include "emulation/emulated_library.h"
#include "reference/storage.h"
#include "unit/data/image_files.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"

namespace convoy {
namespace {

using test::message_of;
using test::TemporaryDirectory;

constexpr std::int64_t kNumSamples = 50;
constexpr ImageShape kImage{6, 5, 3};
constexpr std::int64_t kBatch = 16;  // 4 steps an epoch, 14 places behind the last sample
constexpr std::int64_t kStepsPerEpoch = 4;

/// On which way images reach the network, and as what.
struct Way {
  std::string name;
  std::unique_ptr<ops::Library> (*make_library)();
  DataType type;
};

std::unique_ptr<ops::Library> make_cpu_library() {
  return ops::make_library({.device = DeviceKind::kCpu, .threads = 1});
}

// gtest prints it where a test fails.
void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

struct MicroBatch {
  std::vector<float> images;
  std::vector<std::int32_t> labels;
  bool operator==(const MicroBatch&) const = default;
};

class LoaderTest : public testing::TestWithParam<Way> {
 protected:
  LoaderTest() {
    test::DatasetContent content = test::make_content({kImage, kNumSamples, 4});
    test::write_dataset(directory_.path(), "train", 3, content);
    dataset_ = std::make_unique<io::Dataset>(directory_ / "train", "data.train");
  }

  static LoaderSpec whole_batch(std::int64_t micro) {
    LoaderSpec spec;
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
      augmenter_.apply(dataset_->image(sample), augmenter_.cut(epoch, sample), out);
      for (std::int64_t k = 0; k < kImage.count(); ++k)
        out[k] = static_cast<float>(reference::rounded(GetParam().type, double{out[k]}));
      batch.labels.push_back(test::known_label(sample, 4));
    }
    return batch;
  }

  Buffer make_x(std::int64_t micro) const {
    return {library_->device(), micro * kImage.count() * size_of(GetParam().type)};
  }

  static std::vector<float> values_of(const Buffer& x) {
    const std::int64_t size = size_of(GetParam().type);
    std::vector<float> values(static_cast<std::size_t>(x.size_bytes() / size));
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, x.data() + static_cast<std::int64_t>(i) * size, static_cast<std::size_t>(size));
      values[i] = static_cast<float>(reference::decoded(GetParam().type, bits));
    }
    return values;
  }

  /// Loads on, first all images of a step, then its labels, as a pipeline of one stage may.
  std::vector<MicroBatch> load_step(Loader& loader, const LoaderSpec& spec) const {
    std::vector<MicroBatch> batches(static_cast<std::size_t>(spec.num_micro_batches));
    for (std::int64_t m = 0; m < spec.num_micro_batches && spec.images; ++m) {
      const Buffer x = make_x(spec.batch_micro);
      loader.load_images(m, x.data());
      batches[static_cast<std::size_t>(m)].images = values_of(x);
    }
    for (std::int64_t m = 0; m < spec.num_micro_batches && spec.labels; ++m) {
      batches[static_cast<std::size_t>(m)].labels.resize(static_cast<std::size_t>(spec.batch_micro));
      loader.load_labels(m, batches[static_cast<std::size_t>(m)].labels.data(), nullptr);
    }
    return batches;
  }

  TemporaryDirectory directory_;
  std::unique_ptr<io::Dataset> dataset_;
  Sampler sampler_{{.num_samples = kNumSamples, .seed = 9}};
  Augmenter augmenter_{kImage, {2, true, 9}, {0.25, 0.25, 0.25}, {0.25, 0.25, 0.25}};
  std::unique_ptr<ops::Library> library_ = GetParam().make_library();
};

TEST_P(LoaderTest, GivesWhatDirectComputationGivesForAnyThreadsAndReadAhead) {
  for (const std::int64_t threads : {1, 2, 5}) {
    for (const std::int64_t read_ahead : {1, 2, 7}) {
      LoaderSpec spec = whole_batch(4);
      spec.threads = threads;
      spec.read_ahead = read_ahead;
      Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
      for (std::int64_t step = 0; step < spec.num_steps; ++step) {
        const auto batches = load_step(loader, spec);
        for (std::int64_t m = 0; m < 4; ++m) {
          ASSERT_EQ(batches[static_cast<std::size_t>(m)], direct(step, m, 4))
              << threads << " threads, read_ahead " << read_ahead << ", step " << step << ", micro-batch " << m;
        }
      }
    }
  }
}

TEST_P(LoaderTest, ReplicasTogetherReadWhatOneRankReads) {
  for (const std::int64_t replicas : {2, 4}) {
    const LoaderSpec whole = whole_batch(4);
    Loader alone(*dataset_, sampler_, augmenter_, *library_, whole);
    std::vector<std::unique_ptr<Loader>> parts;
    LoaderSpec spec = whole;
    spec.num_micro_batches = whole.num_micro_batches / replicas;
    for (std::int64_t r = 0; r < replicas; ++r) {
      spec.first_micro_batch = r * spec.num_micro_batches;
      parts.push_back(std::make_unique<Loader>(*dataset_, sampler_, augmenter_, *library_, spec));
    }
    for (std::int64_t step = 0; step < whole.num_steps; ++step) {
      std::vector<MicroBatch> joined;
      for (const auto& part : parts) {
        for (MicroBatch& batch : load_step(*part, spec)) joined.push_back(std::move(batch));
      }
      EXPECT_EQ(joined, load_step(alone, whole)) << "step " << step;
    }
  }
}

TEST_P(LoaderTest, MicroBatchSizeDoesNotChangeTheSamples) {
  const LoaderSpec large = whole_batch(16), small = whole_batch(2);
  Loader a(*dataset_, sampler_, augmenter_, *library_, large), b(*dataset_, sampler_, augmenter_, *library_, small);
  for (std::int64_t step = 0; step < 5; ++step) {
    MicroBatch joined;
    for (const MicroBatch& batch : load_step(b, small)) {
      joined.images.insert(joined.images.end(), batch.images.begin(), batch.images.end());
      joined.labels.insert(joined.labels.end(), batch.labels.begin(), batch.labels.end());
    }
    EXPECT_EQ(load_step(a, large)[0], joined);
  }
}

TEST_P(LoaderTest, ResumedInMidEpochGoesOnAsIfNeverStopped) {
  for (const std::int64_t first : {1, 3, 4, 7}) {
    LoaderSpec spec = whole_batch(4);
    Loader from_start(*dataset_, sampler_, augmenter_, *library_, spec);
    for (std::int64_t step = 0; step < first; ++step) load_step(from_start, spec);
    spec.first_step = first;
    spec.num_steps -= first;
    Loader resumed(*dataset_, sampler_, augmenter_, *library_, spec);
    for (std::int64_t step = first; step < 10; ++step) EXPECT_EQ(load_step(resumed, spec), load_step(from_start, spec));
  }
}

TEST_P(LoaderTest, EveryEpochHasEverySampleOnceAndThenPlacesWithoutLabel) {
  const LoaderSpec spec = whole_batch(8);
  Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
  std::int64_t with_label = 0, without = 0;
  for (std::int64_t step = 0; step < kStepsPerEpoch; ++step) {
    for (const MicroBatch& batch : load_step(loader, spec)) {
      for (const std::int32_t label : batch.labels) ++(label == ops::kNoLabel ? without : with_label);
    }
  }
  EXPECT_EQ(with_label, kNumSamples);
  EXPECT_EQ(without, kStepsPerEpoch * kBatch - kNumSamples);
}

TEST_P(LoaderTest, StagesReadOnlyWhatTheyNeed) {
  LoaderSpec images_only = whole_batch(4), labels_only = whole_batch(4);
  images_only.labels = false;
  labels_only.images = false;
  Loader first(*dataset_, sampler_, augmenter_, *library_, images_only);
  Loader last(*dataset_, sampler_, augmenter_, *library_, labels_only);
  for (std::int64_t step = 0; step < 10; ++step) {
    const auto images = load_step(first, images_only);
    const auto labels = load_step(last, labels_only);
    for (std::int64_t m = 0; m < 4; ++m) {
      const MicroBatch want = direct(step, m, 4);
      EXPECT_EQ(images[static_cast<std::size_t>(m)].images, want.images);
      EXPECT_EQ(labels[static_cast<std::size_t>(m)].labels, want.labels);
    }
  }
  float x = 0;
  std::int32_t label = 0;
  EXPECT_THROW(first.load_labels(0, &label, nullptr), Error);
  EXPECT_THROW(last.load_images(0, &x), Error);
}

TEST_P(LoaderTest, ErrorInAThreadIsThrownByTheLoadOfItsMicroBatchAndOthersGoOn) {
  // More samples than the data set has: some micro-batches meet one that is not there.
  const Sampler too_many({.num_samples = 60, .seed = 9, .shuffle = false});
  for (const std::int64_t read_ahead : {1, 2, 7}) {
    LoaderSpec spec = whole_batch(4);
    spec.threads = 2;
    spec.read_ahead = read_ahead;
    Loader loader(*dataset_, too_many, augmenter_, *library_, spec);
    const Buffer x = make_x(4);
    for (std::int64_t s = 0; s < 40; ++s) {
      const std::int64_t first = s / 4 % kStepsPerEpoch * kBatch + s % 4 * 4;
      const bool meets_absent = first + 3 >= kNumSamples && first < 60;
      const std::string message = message_of<Error>([&] { loader.load_images(s % 4, x.data()); });
      EXPECT_EQ(message.find("of a data set of 50") != std::string::npos, meets_absent)
          << "read_ahead " << read_ahead << ", " << s << ": " << message;
      EXPECT_EQ(message == "(nothing was thrown)", !meets_absent) << message;
    }
  }
}

TEST_P(LoaderTest, WrongOrderAndTooManyStepsAreRefused) {
  LoaderSpec spec = whole_batch(4);
  spec.num_steps = 1;
  Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
  const Buffer x = make_x(4);
  EXPECT_NE(message_of<Error>([&] { loader.load_images(1, x.data()); }).find("0 comes next"), std::string::npos);
  for (std::int64_t m = 0; m < 4; ++m) loader.load_images(m, x.data());
  EXPECT_NE(message_of<Error>([&] { loader.load_images(0, x.data()); }).find("all 1 steps"), std::string::npos);
}

TEST_P(LoaderTest, SpecThatDoesNotFitTheBatchIsRefused) {
  LoaderSpec spec = whole_batch(4);
  spec.first_micro_batch = 1;
  EXPECT_THROW(Loader(*dataset_, sampler_, augmenter_, *library_, spec), Error);
  const Augmenter other({5, 5, 3}, {}, {0, 0, 0}, {1, 1, 1});
  EXPECT_THROW(Loader(*dataset_, sampler_, other, *library_, whole_batch(4)), Error);
}

TEST_P(LoaderTest, EndsInTheMiddleWhereverItStands) {
  const Buffer x = make_x(4);
  for (int round = 0; round < 300; ++round) {
    LoaderSpec spec = whole_batch(4);
    spec.num_steps = 1000000;
    spec.threads = 1 + round % 4;
    spec.read_ahead = 1 + round % 5;
    Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
    for (int s = 0; s < round % 11; ++s) loader.load_images(s % 4, x.data());
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the ring is full, threads sleep
  }
}

TEST_P(LoaderTest, WithNoStepsEndsAtOnce) {
  LoaderSpec spec = whole_batch(4);
  spec.num_steps = 0;
  const Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
  EXPECT_EQ(loader.wait_seconds(), 0);
}

TEST_P(LoaderTest, CountsTheSecondsItWaited) {
  LoaderSpec spec = whole_batch(16);
  spec.num_steps = 2000;
  spec.read_ahead = 1;
  Loader loader(*dataset_, sampler_, augmenter_, *library_, spec);
  const Buffer x = make_x(16);
  const double start = now_seconds();
  for (int s = 0; s < 2000; ++s) loader.load_images(0, x.data());  // nothing to do but wait
  EXPECT_GT(loader.wait_seconds(), 0);
  EXPECT_LE(loader.wait_seconds(), now_seconds() - start);
}

TEST_P(LoaderTest, MixesImagesAndLabelsOfAMicroBatchByTheSamePairsWhoeverLoadsThem) {
  constexpr std::int64_t kMicro = 8;
  const AugmentationSpec augmentation{.crop_padding = 2, .flip = true, .seed = 9, .mixup = 0.6};
  const Augmenter mixed(kImage, augmentation, {0.25, 0.25, 0.25}, {0.25, 0.25, 0.25});
  LoaderSpec images_only = whole_batch(kMicro), labels_only = images_only;
  images_only.labels = labels_only.images = false;
  images_only.threads = 2;
  Loader first_stage(*dataset_, sampler_, mixed, *library_, images_only);
  Loader last_stage(*dataset_, sampler_, mixed, *library_, labels_only);
  // |x| <= 3. Each image is rounded to the type here and there, once more when they are mixed; float32 has four
  // operations.
  const DataType type = GetParam().type;
  const double unit = type == DataType::kFloat32 ? 4 * 0x1p-24 : type == DataType::kFloat16 ? 0x1p-11 : 0x1p-8;
  const double tolerance = 3 * 2 * unit;
  std::set<float> shares;
  for (std::int64_t s = 0; s < 2 * kStepsPerEpoch; ++s) {
    for (std::int64_t m = 0; m < kBatch / kMicro; ++m) {
      const MicroBatch plain = direct(s, m, kMicro);
      const Buffer x = make_x(kMicro);
      first_stage.load_images(m, x.data());
      const std::vector<float> images = values_of(x);
      std::vector<std::int32_t> labels(kMicro);
      std::vector<ops::SecondLabel> seconds(kMicro);
      last_stage.load_labels(m, labels.data(), seconds.data());
      EXPECT_EQ(labels, plain.labels);
      std::set<std::int32_t> partners;
      for (std::int64_t i = 0; i < kMicro; ++i) {
        const std::int64_t position = s % kStepsPerEpoch * kBatch + m * kMicro + i;
        if (labels[static_cast<std::size_t>(i)] == ops::kNoLabel) continue;
        ops::ImageMix mix = draw_mix(augmentation, {.epoch = s / kStepsPerEpoch,
                                                    .micro_batch = position / kMicro,
                                                    .num_places = kMicro,
                                                    .place = i,
                                                    .sample = sampler_.sample(s / kStepsPerEpoch, position)});
        EXPECT_NE(mix.partner, i);
        EXPECT_TRUE(partners.insert(mix.partner).second) << "a partner twice";
        shares.insert(mix.share);
        if (plain.labels[static_cast<std::size_t>(mix.partner)] == ops::kNoLabel)
          mix = {.partner = static_cast<std::int32_t>(i), .share = 0};
        const ops::SecondLabel second = seconds[static_cast<std::size_t>(i)];
        EXPECT_EQ(second.label, plain.labels[static_cast<std::size_t>(mix.partner)]);
        EXPECT_EQ(second.share, mix.share);
        for (std::int64_t k = 0; k < kImage.count(); ++k) {
          const double own = plain.images[static_cast<std::size_t>(i * kImage.count() + k)];
          const double other = plain.images[static_cast<std::size_t>(mix.partner * kImage.count() + k)];
          const double share = mix.share;
          ASSERT_NEAR(images[static_cast<std::size_t>(i * kImage.count() + k)], (1 - share) * own + share * other,
                      tolerance)
              << "step " << s << ", place " << i;
        }
      }
    }
  }
  EXPECT_GT(shares.size(), 90u) << "each sample has a share of its own, in each epoch another";
}

TEST_P(LoaderTest, MixedLabelsGoWithMixedImages) {
  Loader plain(*dataset_, sampler_, augmenter_, *library_, whole_batch(4));
  std::vector<std::int32_t> labels(4);
  std::vector<ops::SecondLabel> seconds(4);
  EXPECT_THROW(plain.load_labels(0, labels.data(), seconds.data()), Error);
}

/// Files of different sizes, and all there is to do to them.
class EncodedLoaderTest : public LoaderTest {
 protected:
  EncodedLoaderTest() : files_(write_files(kNumSamples)) {}

  io::Dataset write_files(std::int64_t bad_sample) const {
    io::DatasetInfo info;
    info.encoded = true;
    info.image = {0, 0, 3};
    info.class_names = {"any"};
    info.class_counts = {kNumSamples};
    info.channel_mean = info.channel_deviation = {0.5, 0.5, 0.5};
    info.num_samples = kNumSamples;
    info.source = "photos";
    const std::string path = directory_ / ("files" + std::to_string(bad_sample) + ".h5");
    io::ShardWriter writer({path, 0, 1}, info);
    for (int i = 0; i < kNumSamples; ++i) {
      auto file = i % 2 == 0 ? test::make_jpeg({.h = 10 + i, .w = 40 - i / 2}) : test::make_png({.h = 30, .w = 5 + i});
      if (i == bad_sample) file.resize(file.size() / 2);
      writer.append(file, 0, fmt::format("ant/{}", i));
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
    return {path, "data.train"};
  }

  std::vector<std::vector<float>> all_images(const LoaderSpec& spec) const {
    Loader loader(files_, sampler_, all_, *library_, spec);
    std::vector<std::vector<float>> images;
    const Buffer x(library_->device(), spec.batch_micro * all_.image().count() * size_of(GetParam().type));
    for (std::int64_t s = 0; s < spec.num_steps * spec.num_micro_batches; ++s) {
      loader.load_images(s % spec.num_micro_batches, x.data());
      const std::vector<float> values = values_of(x);
      for (auto at = values.begin(); at != values.end(); at += all_.image().count())
        images.emplace_back(at, at + all_.image().count());
    }
    return images;
  }

  io::Dataset files_;
  const std::vector<double> half_ = {0.5, 0.5, 0.5};
  Augmenter all_{{0, 0, 3},
                 {.flip = true,
                  .seed = 9,
                  .crop = CropKind::kRandomResized,
                  .size = 12,
                  .brightness = 0.3,
                  .contrast = 0.3,
                  .saturation = 0.3,
                  .cutout = 4},
                 half_,
                 half_};
};

TEST_P(EncodedLoaderTest, GivesWhatDirectComputationGivesForAnyThreadsReadAheadAndMicroBatch) {
  LoaderSpec spec = whole_batch(4);
  std::vector<std::vector<float>> want;
  ImagePreparer preparer(all_);
  for (std::int64_t i = 0; i < spec.num_steps * kBatch; ++i) {
    std::vector<float> image(static_cast<std::size_t>(all_.image().count()));
    const std::int64_t epoch = i / (kStepsPerEpoch * kBatch), position = i % (kStepsPerEpoch * kBatch);
    if (position < kNumSamples) {
      const std::int64_t sample = sampler_.sample(epoch, position);
      const PreparedImage prepared =
          preparer.prepare({.file = files_.encoded(sample), .epoch = epoch, .sample = sample});
      all_.apply(prepared.pixels, prepared.cut, image.data());
    } else {
      all_.apply_black(image.data());
    }
    for (float& value : image) value = static_cast<float>(reference::rounded(GetParam().type, double{value}));
    want.push_back(image);
  }
  for (const std::int64_t threads : {1, 3}) {
    for (const std::int64_t read_ahead : {1, 5}) {
      for (const std::int64_t micro : {4, 16}) {
        spec = whole_batch(micro);
        spec.threads = threads;
        spec.read_ahead = read_ahead;
        EXPECT_TRUE(all_images(spec) == want) << threads << " threads, " << read_ahead << " ahead, micro " << micro;
      }
    }
  }
}

TEST_P(EncodedLoaderTest, ReplicasTogetherReadWhatOneRankReads) {
  const LoaderSpec whole = whole_batch(4);
  const auto want = all_images(whole);
  LoaderSpec spec = whole;
  spec.num_micro_batches = 2;
  for (spec.first_micro_batch = 0; spec.first_micro_batch < 4; spec.first_micro_batch += 2) {
    const auto part = all_images(spec);
    for (std::size_t i = 0; i < part.size(); ++i)
      ASSERT_EQ(part[i], want[i / 8 * 16 + static_cast<std::size_t>(spec.first_micro_batch) * 4 + i % 8]) << i;
  }
}

TEST_P(EncodedLoaderTest, ABadImageIsAnErrorThatNamesIt) {
  const io::Dataset files = write_files(6);
  const Sampler in_order({.num_samples = kNumSamples, .seed = 1, .shuffle = false});
  Loader loader(files, in_order, all_, *library_, whole_batch(4));
  const Buffer x(library_->device(), 4 * all_.image().count() * size_of(GetParam().type));
  loader.load_images(0, x.data());
  const std::string message = message_of<Error>([&] { loader.load_images(1, x.data()); });
  EXPECT_EQ(message.find("sample 6 ('ant/6') of the images from photos cannot be used: it is "), 0u) << message;
  EXPECT_NO_THROW(loader.load_images(2, x.data()));
}

TEST_P(EncodedLoaderTest, ABadImageIsBlackAndListedWhereThoseAreSkipped) {
  const io::Dataset files = write_files(6);
  const Sampler in_order({.num_samples = kNumSamples, .seed = 1, .shuffle = false});
  const auto value_of_black = all_.value_of()[0];
  for (const std::int64_t threads : {1, 3}) {
    LoaderSpec spec = whole_batch(4);
    spec.skips_bad = true;
    spec.threads = threads;
    Loader loader(files, in_order, all_, *library_, spec);
    const Buffer x(library_->device(), 4 * all_.image().count() * size_of(GetParam().type));
    std::vector<std::uint8_t> want(kBatch);
    for (std::int64_t m = 0; m < 4; ++m) {
      loader.load_images(m, x.data());
      const std::vector<float> values = values_of(x);
      if (m != 1) continue;
      want[6] = 1;
      const auto third = values.begin() + 2 * all_.image().count();
      for (auto value = third; value != third + all_.image().count(); value += 3)
        ASSERT_EQ(*value, static_cast<float>(reference::rounded(GetParam().type, double{value_of_black})));
    }
    const auto places = loader.bad_places();
    EXPECT_EQ(std::vector<std::uint8_t>(places.begin(), places.end()), want);
    const std::vector<BadSample> bad = loader.take_bad();
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].sample, 6);
    EXPECT_EQ(bad[0].reason.find("it is "), 0u) << bad[0].reason;
    EXPECT_TRUE(loader.take_bad().empty());
    loader.load_images(0, x.data());  // the next step's places are its own
    loader.load_images(1, x.data());
    EXPECT_EQ(loader.bad_places()[6], 0);
  }
}

const auto kWays = testing::Values(Way{"OnTheHost", make_cpu_library, DataType::kFloat32},
                                   Way{"OnTheCpuAsBf16", make_cpu_library, DataType::kBfloat16},
                                   Way{"OnTheDeviceAsF32", emulation::make_emulated_library, DataType::kFloat32},
                                   Way{"OnTheDeviceAsBf16", emulation::make_emulated_library, DataType::kBfloat16},
                                   Way{"OnTheDeviceAsFp16", emulation::make_emulated_library, DataType::kFloat16});
const auto kNameOf = [](const auto& instance) { return instance.param.name; };

INSTANTIATE_TEST_SUITE_P(, LoaderTest, kWays, kNameOf);
INSTANTIATE_TEST_SUITE_P(, EncodedLoaderTest, kWays, kNameOf);

}  // namespace
}  // namespace convoy
