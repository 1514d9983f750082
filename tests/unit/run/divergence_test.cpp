/// A loss that explodes is noticed at its first step, noise is not, and a restart forgets neither.
#include "run/divergence.h"

#include <cmath>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/io/atomic_file.h"

#include "unit/io/checkpoint_samples.h"
#include "unit/io/temporary_directory.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::message_of;
using test::TemporaryDirectory;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Returns the range after steps 1, 2, ... with these losses.
LossRange range_after(const std::vector<double>& losses) {
  LossRange range(io::TrainingState{});
  std::int64_t step = 0;
  for (const double loss : losses) range.add(++step, loss);
  return range;
}

// 1 + 1.3 * 0.99^step: from ln(10) down to 1, with 40 % of noise.
std::vector<double> noisy_losses(int count) {
  std::vector<double> losses;
  for (int i = 0; i < count; ++i) losses.push_back((1 + 1.3 * std::pow(0.99, i)) * (1 + 0.4 * std::sin(1.7 * i * i)));
  return losses;
}

std::vector<double> operator+(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(LossRange, IsNotLeftByNoiseOnTheWayDown) {
  for (int count = 1; count < 600; ++count) EXPECT_EQ(range_after(noisy_losses(count)).left_step(), 0) << count;
}

TEST(LossRange, IsLeftAtTheFirstStepOfAnExplosionAndStaysLeft) {
  const std::vector<double> before = noisy_losses(400);
  EXPECT_EQ(range_after(before + std::vector<double>{3}).left_step(), 401);
  EXPECT_EQ(range_after(before + std::vector<double>{3, 60, 1e30, 5}).left_step(), 401);
  EXPECT_EQ(range_after(before + std::vector<double>{1, 1, 60, 50, 1, 60}).left_step(), 403) << "one good step is luck";
  for (const double none : {std::nan(""), kInfinity}) {
    EXPECT_EQ(range_after(before + std::vector<double>{none}).left_step(), 401) << none;
    EXPECT_EQ(range_after({none}).left_step(), std::isnan(none) ? 1 : 0) << "infinite is all that was reached so far";
  }
}

TEST(LossRange, IsLeftByASlowRiseToo) {
  std::vector<double> losses = noisy_losses(400);
  for (int i = 0; i < 400; ++i)
    losses.push_back(1.02 + 0.004 * i);  // above twice the lowest average after about 280 steps
  const std::int64_t left = range_after(losses).left_step();
  EXPECT_GT(left, 650);
  EXPECT_LT(left, 720);
}

TEST(LossRange, IsReachedAgain) {
  const std::vector<double> back = noisy_losses(400) + std::vector<double>(4, 1e6) + std::vector<double>(100, 1.1);
  EXPECT_EQ(range_after(back).left_step(), 0) << "huge values do not hold the average up for long";
  EXPECT_EQ(range_after(back + std::vector<double>{9}).left_step(), 505);
}

TEST(LossRange, ALossNearZeroMayTriple) {
  EXPECT_EQ(range_after(std::vector<double>(50, 0.01) + std::vector<double>{0.03, 0.1}).left_step(), 0);
}

TEST(LossRange, GoesOnAfterARestartAsIfThereWereNone) {
  const std::vector<double> losses = noisy_losses(100) + std::vector<double>{9, 90, 1.5, 90};
  LossRange whole(io::TrainingState{});
  io::TrainingState saved;
  std::int64_t step = 0;
  for (const double loss : losses) {
    LossRange restarted(saved);
    restarted.add(++step, loss);
    restarted.save_to(saved);
    whole.add(step, loss);
    EXPECT_EQ(restarted.left_step(), whole.left_step());
    EXPECT_EQ(restarted.limit(), whole.limit());
  }
  EXPECT_EQ(whole.left_step(), 101);
}

// --- The way back ------------------------------------------------------------------------------------------------

TEST(WayBack, IsTheNewestCheckpointWhoseOwnLossWasInRange) {
  const TemporaryDirectory directory;
  for (const std::int64_t step : {10, 11, 12, 20})
    io::write_file_atomically(io::checkpoint_path(directory.path(), step),
                              io::encode_checkpoint(test::make_checkpoint(step)));
  // The loss of step 13 is that of the weights of step 12.
  EXPECT_NE(describe_way_back(directory.path(), 13)
                .find("before the training went wrong is " + io::checkpoint_path(directory.path(), 11)),
            std::string::npos);
  EXPECT_NE(describe_way_back(directory.path(), 30).find("step-00000020.h5 (step 20)"), std::string::npos);
  EXPECT_NE(describe_way_back(directory.path(), 11).find("To begin at step 0, choose another run.directory"),
            std::string::npos);
  io::write_file_atomically(io::best_checkpoint_path(directory.path()),
                            io::encode_checkpoint(test::make_checkpoint(9)));
  EXPECT_NE(describe_way_back(directory.path(), 11).find("best.h5 (step 9)"), std::string::npos);
}

TEST(WayBack, WhereNothingIsSavedTheSameDirectoryWillDo) {
  const TemporaryDirectory directory;
  EXPECT_NE(describe_way_back(directory.path(), 3).find("To begin at step 0, use a smaller optimizer.lr"),
            std::string::npos);
}

TEST(WayBack, WeightsThatAreNotFiniteAreNamedWithIt) {
  const TemporaryDirectory directory;
  const LossRange range(io::TrainingState{});
  std::vector<io::NamedTensor> weights = test::make_checkpoint().model;
  EXPECT_EQ(find_not_finite(weights), "");
  weights[1].values[3] = -std::numeric_limits<float>::infinity();
  ASSERT_EQ(find_not_finite(weights), "fc.bias");
  const std::string message = message_of<Error>([&] { refuse_to_save("fc.bias", 7, range, directory.path()); });
  EXPECT_NE(message.find("step 7 is not saved: 'fc.bias' holds"), std::string::npos) << message;
  EXPECT_NE(message.find("To begin at step 0"), std::string::npos) << message;
}

}  // namespace
}  // namespace convoy
