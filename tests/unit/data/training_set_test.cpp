/// What data.limit keeps: the same samples for a seed, the same share of each class.
#include "convoy/data/training_set.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/data/sampler.h"
#include "convoy/params/parameters.h"

#include "unit/io/array_samples.h"
#include "unit/io/dataset_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using Samples = std::vector<std::int64_t>;

/// Samples of three classes: 600 of the first, 300 of the second and 3 of the third, one after the other in turn.
class LabelsAlone final : public io::SampleStore {
 public:
  LabelsAlone() {
    info_.num_samples = 903;
    info_.class_names = {"a", "b", "c"};
  }
  const io::DatasetInfo& info() const override { return info_; }
  std::int32_t label(std::int64_t sample) const override {
    if (sample >= 900) return 2;
    return sample % 3 == 0 ? 1 : 0;
  }
  std::string name(std::int64_t) const override { return ""; }

 private:
  io::DatasetInfo info_;
};

std::vector<std::int64_t> counts_of(const Samples& samples) {
  std::vector<std::int64_t> counts(3);
  for (const std::int64_t sample : samples) ++counts[static_cast<std::size_t>(LabelsAlone().label(sample))];
  return counts;
}

TEST(TrainingSet, HasTheSameShareOfEachClassForEverySize) {
  const LabelsAlone store;
  for (std::int64_t count = 1; count <= 903; ++count) {
    const Samples drawn = draw_stratified(store, count, 5);
    ASSERT_EQ(std::ssize(drawn), count);
    ASSERT_TRUE(std::ranges::is_sorted(drawn) && std::ranges::adjacent_find(drawn) == drawn.end());
    const auto counts = counts_of(drawn);
    const double share = static_cast<double>(count) / 903;
    EXPECT_NEAR(static_cast<double>(counts[0]), share * 600, 1) << count;
    EXPECT_NEAR(static_cast<double>(counts[1]), share * 300, 1) << count;
    EXPECT_NEAR(static_cast<double>(counts[2]), share * 3, 1) << count;
  }
}

TEST(TrainingSet, IsDrawnFromTheSeedAndGrowsWithTheLimit) {
  const LabelsAlone store;
  const Samples small = draw_stratified(store, 90, 5), large = draw_stratified(store, 400, 5);
  EXPECT_EQ(small, draw_stratified(store, 90, 5));
  EXPECT_NE(small, draw_stratified(store, 90, 6));
  EXPECT_TRUE(std::ranges::includes(large, small));
  // Drawn from the whole of the data, not only from its beginning: 90 of 900 lie within the first half with a standard
  // deviation of sqrt(90) / 2 = 4.7; four of them on either side of 45.
  EXPECT_NEAR(static_cast<double>(std::ranges::count_if(small, [](std::int64_t s) { return s < 450; })), 45, 19);
}

TEST(TrainingSet, OfNumbersIsDrawnWithoutClasses) {
  const test::TemporaryDirectory directory;
  test::write_arrays(directory.path(), test::arrays_info(TargetKind::kNumbers));
  const io::Dataset numbers(directory.path(), "data.train");
  EXPECT_EQ(draw_stratified(numbers, 6, 5), (Samples{0, 1, 2, 3, 4, 5}));
  const Samples drawn = draw_stratified(numbers, 3, 5);
  EXPECT_EQ(std::ssize(drawn), 3);
  EXPECT_TRUE(std::ranges::includes(draw_stratified(numbers, 4, 5), drawn));
  Parameters params;
  params.data.balanced = true;
  EXPECT_EQ(test::message_of<RequestError>([&] { training_sampler(numbers, params); }),
            "data.balanced = true draws each class equally often, but the targets of data.train are numbers. Leave it "
            "out.");
}

TEST(TrainingSet, CountsSharesAndRefusesWhatIsNotThere) {
  EXPECT_EQ(limited_count({}, 60), 60);
  EXPECT_EQ(limited_count({.percent = 10}, 60), 6);
  EXPECT_EQ(limited_count({.percent = 100}, 60), 60);
  EXPECT_EQ(limited_count({.count = 60}, 60), 60);
  EXPECT_EQ(test::message_of<RequestError>([] { limited_count({.count = 61}, 60); }),
            "data.limit = 61 is more than the 60 samples of data.train. Allowed: up to 60, or a share such as 10 %.");
  EXPECT_EQ(test::message_of<RequestError>([] { limited_count({.percent = 0.5}, 60); }),
            "data.limit = 0.5 % of the 60 samples of data.train is no sample. Give a larger share, or a number.");
}

TEST(TrainingSet, IsTheSameForAnyNumberOfShards) {
  std::vector<std::int64_t> hashes;
  for (const int num_shards : {1, 3}) {
    const test::TemporaryDirectory directory;
    test::DatasetContent content = test::make_content();
    test::write_dataset(directory.path(), "train", num_shards, content);
    Parameters params;
    params.data = {.train = directory / "train", .limit = {.percent = 40}};
    const io::Dataset train = open_training_set(params);
    EXPECT_EQ(train.info().num_samples, 8);
    EXPECT_EQ(train.info().class_counts, (std::vector<std::int64_t>{2, 2, 2, 2}));
    hashes.push_back(train.content_hash());
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

}  // namespace
}  // namespace convoy
