/// The loader gives each layout the same samples, in order, however many threads read ahead, on the host and on a
/// device.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

#include "data/images/augmenter.h"
#include "unit/data/loader_fixture.h"
#include "unit/messages.h"

namespace convoy {
namespace {

class LoaderTest : public LoaderFixture {
 protected:
  /// Expects images and labels mixed as draw_mix() says, loaded by two ranks, with at least `least_shares` different
  /// shares.
  void expect_mixed(const AugmentationSpec& augmentation, std::size_t least_shares) const {
    constexpr std::int64_t kMicro = 8;
    const Augmenter mixed(kImage, augmentation, {0.25, 0.25, 0.25}, {0.25, 0.25, 0.25});
    ImageLoaderSpec images_only = whole_batch(kMicro), labels_only = images_only;
    images_only.labels = labels_only.images = false;
    images_only.threads = 2;
    ImageLoader first_stage(*dataset_, sampler_, mixed, *backend_, images_only);
    ImageLoader last_stage(*dataset_, sampler_, mixed, *backend_, labels_only);
    // |x| <= 3. Each image is rounded to the type here and there, once more when they are mixed; float32 has four
    // operations.
    const DataType type = GetParam().type;
    const double unit = type == DataType::kFloat32 ? 4 * 0x1p-24 : type == DataType::kFloat16 ? 0x1p-11 : 0x1p-8;
    const double tolerance = 3 * 2 * unit;
    std::set<float> label_shares;
    for (std::int64_t s = 0; s < 2 * kStepsPerEpoch; ++s) {
      first_stage.begin_step();
      last_stage.begin_step();
      for (std::int64_t m = 0; m < kBatch / kMicro; ++m) {
        const MicroBatch plain = direct(s, m, kMicro);
        const Buffer x = make_x(kMicro);
        first_stage.load(features::kImage, m, x.data());
        const std::vector<float> images = values_of(x);
        std::vector<std::int32_t> labels(kMicro);
        std::vector<ops::MixedLabel> seconds(kMicro);
        last_stage.load(features::kLabel, m, labels.data());
        last_stage.load(features::kMixedLabel, m, seconds.data());
        EXPECT_EQ(labels, plain.labels);
        std::set<std::int32_t> partners;
        for (std::int64_t i = 0; i < kMicro; ++i) {
          const std::int64_t position = s % kStepsPerEpoch * kBatch + m * kMicro + i;
          if (labels[static_cast<std::size_t>(i)] == ops::kNoLabel) continue;
          BatchSamples batch{.epoch = s / kStepsPerEpoch, .micro_batch = position / kMicro, .samples = {}};
          batch.samples.resize(kMicro);
          batch.samples[static_cast<std::size_t>(i)] = sampler_.sample(s / kStepsPerEpoch, position);
          SampleMix drawn = draw_mix(augmentation.params, augmentation.seed, kImage, batch, i);
          ops::ImageMix& mix = drawn.image;
          EXPECT_NE(mix.partner, i);
          EXPECT_TRUE(partners.insert(mix.partner).second) << "a partner twice";
          if (plain.labels[static_cast<std::size_t>(mix.partner)] == ops::kNoLabel)
            drawn = {.image = {.partner = static_cast<std::int32_t>(i)}};
          label_shares.insert(drawn.label_share);
          const ops::MixedLabel second = seconds[static_cast<std::size_t>(i)];
          EXPECT_EQ(second.label, plain.labels[static_cast<std::size_t>(mix.partner)]);
          EXPECT_EQ(second.share, drawn.label_share);
          for (std::int64_t k = 0; k < kImage.count(); ++k) {
            const double own = plain.images[static_cast<std::size_t>(i * kImage.count() + k)];
            const double other = plain.images[static_cast<std::size_t>(mix.partner * kImage.count() + k)];
            const std::int64_t row = k / kImage.c / kImage.w, column = k / kImage.c % kImage.w;
            const bool in_box = row >= mix.top && row < mix.bottom && column >= mix.left && column < mix.right;
            const double share = in_box ? mix.share : 0;
            ASSERT_NEAR(images[static_cast<std::size_t>(i * kImage.count() + k)], (1 - share) * own + share * other,
                        tolerance)
                << "step " << s << ", place " << i;
          }
        }
      }
    }
    EXPECT_GT(label_shares.size(), least_shares) << "each sample has a share of its own, in each epoch another";
  }
};

TEST_P(LoaderTest, GivesWhatDirectComputationGivesForAnyThreadsAndReadAhead) {
  for (const std::int64_t threads : {1, 2, 5}) {
    for (const std::int64_t read_ahead : {1, 2, 7}) {
      ImageLoaderSpec spec = whole_batch(4);
      spec.threads = threads;
      spec.read_ahead = read_ahead;
      ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
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

// A store whose reads wait until that many threads are in one.
class MeetingStore final : public io::SampleStore {
 public:
  MeetingStore(const io::SampleStore& samples, int num_threads) : samples_(samples), num_threads_(num_threads) {}

  const io::DatasetInfo& info() const override { return samples_.info(); }
  void read_pixels(std::int64_t sample, std::span<std::byte> pixels) const override {
    ++num_reading_;
    const double start = now_seconds();
    while (num_reading_ < num_threads_ && now_seconds() - start < 60) std::this_thread::yield();
    samples_.read_pixels(sample, pixels);
  }
  std::span<const std::byte> read_file(std::int64_t sample, std::vector<std::byte>& memory) const override {
    return samples_.read_file(sample, memory);
  }
  std::int32_t label(std::int64_t sample) const override { return samples_.label(sample); }
  std::string name(std::int64_t sample) const override { return samples_.name(sample); }
  bool have_met() const { return num_reading_ >= num_threads_; }

 private:
  const io::SampleStore& samples_;
  int num_threads_;
  mutable std::atomic<int> num_reading_{0};
};

TEST_P(LoaderTest, AsManyThreadsReadAtOnceAsAreAskedForWithoutASampleTaken) {
  constexpr int kThreads = 12;
  const MeetingStore store(*dataset_, kThreads);
  ImageLoaderSpec spec = whole_batch(4);
  spec.threads = kThreads;
  const ImageLoader loader(store, sampler_, augmenter_, *backend_, spec);
  const double start = now_seconds();
  while (!store.have_met() && now_seconds() - start < 30) std::this_thread::yield();
  EXPECT_TRUE(store.have_met());
}

TEST_P(LoaderTest, ReplicasTogetherReadWhatOneRankReads) {
  for (const std::int64_t replicas : {2, 4}) {
    const ImageLoaderSpec whole = whole_batch(4);
    ImageLoader alone(*dataset_, sampler_, augmenter_, *backend_, whole);
    std::vector<std::unique_ptr<ImageLoader>> parts;
    ImageLoaderSpec spec = whole;
    spec.num_micro_batches = whole.num_micro_batches / replicas;
    for (std::int64_t r = 0; r < replicas; ++r) {
      spec.first_micro_batch = r * spec.num_micro_batches;
      parts.push_back(std::make_unique<ImageLoader>(*dataset_, sampler_, augmenter_, *backend_, spec));
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
  const ImageLoaderSpec large = whole_batch(16), small = whole_batch(2);
  ImageLoader a(*dataset_, sampler_, augmenter_, *backend_, large),
      b(*dataset_, sampler_, augmenter_, *backend_, small);
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
    ImageLoaderSpec spec = whole_batch(4);
    ImageLoader from_start(*dataset_, sampler_, augmenter_, *backend_, spec);
    for (std::int64_t step = 0; step < first; ++step) load_step(from_start, spec);
    spec.first_step = first;
    spec.num_steps -= first;
    ImageLoader resumed(*dataset_, sampler_, augmenter_, *backend_, spec);
    for (std::int64_t step = first; step < 10; ++step) EXPECT_EQ(load_step(resumed, spec), load_step(from_start, spec));
  }
}

TEST_P(LoaderTest, EveryEpochHasEverySampleOnceAndThenPlacesWithoutLabel) {
  const ImageLoaderSpec spec = whole_batch(8);
  ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
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
  ImageLoaderSpec images_only = whole_batch(4), labels_only = whole_batch(4);
  images_only.labels = false;
  labels_only.images = false;
  ImageLoader first(*dataset_, sampler_, augmenter_, *backend_, images_only);
  ImageLoader last(*dataset_, sampler_, augmenter_, *backend_, labels_only);
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
  EXPECT_THROW(first.load(features::kLabel, 0, &label), Error);
  EXPECT_THROW(last.load(features::kImage, 0, &x), Error);
}

TEST_P(LoaderTest, MixesImagesAndLabelsOfAMicroBatchByTheSamePairsWhoeverLoadsThem) {
  expect_mixed({.params = {.crop_padding = 2, .flip = true, .mixup = 0.6}, .seed = 9}, 90);
}

TEST_P(LoaderTest, PastesBoxesAndMixesLabelsByTheirAreasWhoeverLoadsThem) {
  expect_mixed({.params = {.crop_padding = 2, .flip = true, .cutmix = 1}, .seed = 9}, 5);  // areas in whole pixels
}

TEST_P(LoaderTest, MixesOrPastesAWholeMicroBatch) {
  const AugmentationSpec augmentation{.params = {.mixup = 0.6, .cutmix = 1}, .seed = 9};
  std::set<std::pair<std::int64_t, bool>> kinds;
  for (std::int64_t m = 0; m < 40; ++m)
    for (std::int64_t i = 0; i < 4; ++i) {
      const ops::ImageMix mix =
          draw_mix(augmentation.params, augmentation.seed, kImage, {.micro_batch = m, .samples = {1, 2, 3, 4}}, i)
              .image;
      kinds.insert({m, mix.share == 1});  // a box is pasted unchanged
    }
  EXPECT_EQ(kinds.size(), 40u) << "one kind in each";
  const auto pasted = std::ranges::count_if(kinds, [](const auto& kind) { return kind.second; });
  EXPECT_NEAR(static_cast<double>(pasted), 20, 6 * std::sqrt(10.0));
}

TEST_P(LoaderTest, RefusesFeaturesThatItsSamplesDoNotHave) {
  ImageLoader plain(*dataset_, sampler_, augmenter_, *backend_, whole_batch(4));
  std::vector<ops::MixedLabel> seconds(4);
  plain.begin_step();
  for (const char* feature : {features::kMixedLabel, "tokens"})
    EXPECT_EQ(test::message_of<Error>([&] { plain.load(feature, 0, seconds.data()); }),
              fmt::format("loader: this rank does not read {}", feature));
}

INSTANTIATE_TEST_SUITE_P(, LoaderTest, kWays, kNameOf);

}  // namespace
}  // namespace convoy
