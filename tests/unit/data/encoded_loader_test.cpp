/// The loader gives for files what decoding, cropping and colouring one by one give; a bad file is named.
#include "convoy/base/error.h"
#include "convoy/io/shard_writer.h"

#include "data/images/prepare_image.h"
#include "unit/data/image_files.h"
#include "unit/data/loader_fixture.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;

/// Files of different sizes, with all changes that can be made to them.
class EncodedLoaderTest : public LoaderFixture {
 protected:
  EncodedLoaderTest() : files_(write_files(kNumSamples)) {}

  io::Dataset write_files(std::int64_t bad_sample) const {
    io::DatasetInfo info;
    info.encoded = true;
    info.image = {0, 0, 3};
    info.class_names = {"any"};
    info.class_counts = {kNumSamples};
    info.channel_mean = info.channel_stddev = {0.5, 0.5, 0.5};
    info.num_samples = kNumSamples;
    info.source = "photos";
    const std::string path = directory_ / ("files" + std::to_string(bad_sample) + ".h5");
    io::ShardWriter writer({path, 0, 1}, info);
    for (int i = 0; i < kNumSamples; ++i) {
      auto file = i % 2 == 0 ? test::make_jpeg({.h = 10 + i, .w = 40 - i / 2}) : test::make_png({.h = 30, .w = 5 + i});
      if (i == bad_sample) file.resize(file.size() / 2);
      writer.append(file, {.label = 0}, fmt::format("ant/{}", i));
    }
    writer.end_samples();
    writer.finish(info);
    writer.commit();
    return {path, "data.train"};
  }

  std::vector<std::vector<float>> all_images(const ImageLoaderSpec& spec) const {
    ImageLoader loader(files_, sampler_, all_, *backend_, spec);
    std::vector<std::vector<float>> images;
    const Buffer x(backend_->device(), spec.batch_micro * all_.image().count() * size_of(GetParam().type));
    for (std::int64_t s = 0; s < spec.num_steps * spec.num_micro_batches; ++s) {
      if (s % spec.num_micro_batches == 0) loader.begin_step();
      loader.load(features::kImage, s % spec.num_micro_batches, x.data());
      const std::vector<float> values = values_of(x);
      for (auto at = values.begin(); at != values.end(); at += all_.image().count())
        images.emplace_back(at, at + all_.image().count());
    }
    return images;
  }

  io::Dataset files_;
  const std::vector<double> half_ = {0.5, 0.5, 0.5};
  Augmenter all_{{0, 0, 3},
                 {.params = {.crop = CropKind::kRandomResized,
                             .flip = true,
                             .brightness = 0.3,
                             .contrast = 0.3,
                             .saturation = 0.3,
                             .cutout = 4},
                  .seed = 9,
                  .size = 12},
                 half_,
                 half_};
};

TEST_P(EncodedLoaderTest, GivesWhatDirectComputationGivesForAnyThreadsReadAheadAndMicroBatch) {
  ImageLoaderSpec spec = whole_batch(4);
  std::vector<std::vector<float>> want;
  ImagePreparer preparer(all_);
  std::vector<std::byte> memory;
  for (std::int64_t i = 0; i < spec.num_steps * kBatch; ++i) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(all_.image().count()));
    ops::ImageCut cut{.is_padding = 1};
    const std::int64_t epoch = i / (kStepsPerEpoch * kBatch), position = i % (kStepsPerEpoch * kBatch);
    if (position < kNumSamples) {
      const std::int64_t sample = sampler_.sample(epoch, position);
      const PreparedImage prepared =
          preparer.prepare({.file = files_.read_file(sample, memory), .epoch = epoch, .sample = sample});
      pixels.assign(prepared.pixels, prepared.pixels + all_.image().count());
      cut = prepared.cut;
    }
    std::vector<float>& image = want.emplace_back();
    for (const double value :
         reference::image_batch({.x = all_.image().batch(1), .value_of = all_.value_of()}, pixels, {cut}))
      image.push_back(static_cast<float>(reference::rounded(GetParam().type, value)));
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
  const ImageLoaderSpec whole = whole_batch(4);
  const auto want = all_images(whole);
  ImageLoaderSpec spec = whole;
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
  ImageLoader loader(files, in_order, all_, *backend_, whole_batch(4));
  const Buffer x(backend_->device(), 4 * all_.image().count() * size_of(GetParam().type));
  loader.begin_step();
  loader.load(features::kImage, 0, x.data());
  const std::string message = message_of<Error>([&] { loader.load(features::kImage, 1, x.data()); });
  EXPECT_EQ(message.find("sample 6 ('ant/6') of the images from photos cannot be used: it is "), 0u) << message;
  EXPECT_NO_THROW(loader.load(features::kImage, 2, x.data()));
}

TEST_P(EncodedLoaderTest, ABadImageIsBlackAndListedWhereThoseAreSkipped) {
  const io::Dataset files = write_files(6);
  const Sampler in_order({.num_samples = kNumSamples, .seed = 1, .shuffle = false});
  const auto value_of_black = all_.value_of()[0];
  for (const std::int64_t threads : {1, 3}) {
    ImageLoaderSpec spec = whole_batch(4);
    spec.skips_bad = true;
    spec.threads = threads;
    ImageLoader loader(files, in_order, all_, *backend_, spec);
    const Buffer x(backend_->device(), 4 * all_.image().count() * size_of(GetParam().type));
    std::vector<std::uint8_t> want(kBatch);
    loader.begin_step();
    for (std::int64_t m = 0; m < 4; ++m) {
      loader.load(features::kImage, m, x.data());
      const std::vector<float> values = values_of(x);
      if (m != 1) continue;
      want[6] = 1;
      const auto third = values.begin() + 2 * all_.image().count();
      for (auto value = third; value != third + all_.image().count(); value += 3)
        ASSERT_EQ(*value, static_cast<float>(reference::rounded(GetParam().type, double{value_of_black})));
    }
    const auto flags = loader.bad_flags();
    EXPECT_EQ(std::vector<std::uint8_t>(flags.begin(), flags.end()), want);
    const std::vector<BadSample> bad = loader.take_bad();
    ASSERT_EQ(bad.size(), 1u);
    EXPECT_EQ(bad[0].sample, 6);
    EXPECT_EQ(bad[0].reason.find("it is "), 0u) << bad[0].reason;
    EXPECT_TRUE(loader.take_bad().empty());
    loader.begin_step();
    loader.load(features::kImage, 0, x.data());  // the next step's flags are its own
    loader.load(features::kImage, 1, x.data());
    EXPECT_EQ(loader.bad_flags()[6], 0);
  }
}

INSTANTIATE_TEST_SUITE_P(, EncodedLoaderTest, kWays, kNameOf);

}  // namespace
}  // namespace convoy
