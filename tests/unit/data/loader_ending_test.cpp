/// A loader ends when told to, at its last step, and on an error, which it reports for the micro-batch that has it.
#include <chrono>
#include <filesystem>
#include <thread>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

#include "unit/data/loader_fixture.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;

class LoaderEnding : public LoaderFixture {};

TEST_P(LoaderEnding, ErrorInAThreadIsThrownByTheLoadOfItsMicroBatchAndOthersGoOn) {
  // More samples than the data set has: some micro-batches hold one that does not exist.
  const Sampler too_many({.num_samples = 60, .seed = 9, .shuffle = false});
  for (const std::int64_t read_ahead : {1, 2, 7}) {
    ImageLoaderSpec spec = whole_batch(4);
    spec.threads = 2;
    spec.read_ahead = read_ahead;
    ImageLoader loader(*dataset_, too_many, augmenter_, *backend_, spec);
    const Buffer x = make_x(4);
    for (std::int64_t s = 0; s < 40; ++s) {
      if (s % 4 == 0) loader.begin_step();
      const std::int64_t first = s / 4 % kStepsPerEpoch * kBatch + s % 4 * 4;
      const bool meets_absent = first + 3 >= kNumSamples && first < 60;
      const std::string message = message_of<Error>([&] { loader.load(features::kImage, s % 4, x.data()); });
      EXPECT_EQ(message.find("but the data set has 50 samples") != std::string::npos, meets_absent)
          << "read_ahead " << read_ahead << ", " << s << ": " << message;
      EXPECT_EQ(message == "(nothing was thrown)", !meets_absent) << message;
    }
  }
}

// A prediction leaves bad images out; samples of a shard that has changed are not bad images.
TEST_P(LoaderEnding, AShardThatChangesWhileItIsReadEndsTheLoaderThatSkipsBadImages) {
  const std::string shard = directory_ / "train-001.h5";
  std::filesystem::resize_file(shard, std::filesystem::file_size(shard) / 2);
  ImageLoaderSpec spec = whole_batch(16);
  spec.skips_bad = true;
  ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
  const Buffer x = make_x(16);
  loader.begin_step();
  const std::string message = message_of<io::StoreError>([&] { loader.load(features::kImage, 0, x.data()); });
  EXPECT_TRUE(message.starts_with("cannot read '" + shard + "': it ended at byte ")) << message;
}

TEST_P(LoaderEnding, WrongOrderAndTooManyStepsAreRefused) {
  ImageLoaderSpec spec = whole_batch(4);
  spec.num_steps = 1;
  ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
  const Buffer x = make_x(4);
  loader.begin_step();
  EXPECT_NE(message_of<Error>([&] { loader.load(features::kImage, 1, x.data()); }).find("0 comes next"),
            std::string::npos);
  for (std::int64_t m = 0; m < 4; ++m) loader.load(features::kImage, m, x.data());
  EXPECT_NE(message_of<Error>([&] { loader.begin_step(); }).find("after the last of 1 steps"), std::string::npos);
}

TEST_P(LoaderEnding, SpecThatDoesNotFitTheBatchIsRefused) {
  ImageLoaderSpec spec = whole_batch(4);
  spec.first_micro_batch = 1;
  EXPECT_THROW(ImageLoader(*dataset_, sampler_, augmenter_, *backend_, spec), Error);
  const Augmenter other({5, 5, 3}, {}, {0, 0, 0}, {1, 1, 1});
  EXPECT_THROW(ImageLoader(*dataset_, sampler_, other, *backend_, whole_batch(4)), Error);
}

TEST_P(LoaderEnding, EndsInTheMiddleWhereverItStands) {
  const Buffer x = make_x(4);
  for (int round = 0; round < 300; ++round) {
    ImageLoaderSpec spec = whole_batch(4);
    spec.num_steps = 1000000;
    spec.threads = 1 + round % 4;
    spec.read_ahead = 1 + round % 5;
    ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
    for (int s = 0; s < round % 11; ++s) {
      if (s % 4 == 0) loader.begin_step();
      loader.load(features::kImage, s % 4, x.data());
    }
    if (round % 50 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the ring is full, threads sleep
  }
}

TEST_P(LoaderEnding, WithNoStepsEndsAtOnce) {
  ImageLoaderSpec spec = whole_batch(4);
  spec.num_steps = 0;
  const ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, spec);
  EXPECT_EQ(loader.wait_seconds(), 0);
}

// Its threads have hardly begun when the first micro-batch is wanted.
TEST_P(LoaderEnding, CountsTheSecondsItWaited) {
  const Buffer x = make_x(16);
  const double start = now_seconds();
  double waited = 0;
  for (int i = 0; i < 50; ++i) {
    ImageLoader loader(*dataset_, sampler_, augmenter_, *backend_, whole_batch(16));
    loader.begin_step();
    loader.load(features::kImage, 0, x.data());
    waited += loader.wait_seconds();
  }
  EXPECT_GT(waited, 0);
  EXPECT_LE(waited, now_seconds() - start);
}

INSTANTIATE_TEST_SUITE_P(, LoaderEnding, kWays, kNameOf);

}  // namespace
}  // namespace convoy
