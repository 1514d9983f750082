/// Tests which cells are recomputed under a limit of memory, and what is refused.
#include "plan/recompute.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/model/partition.h"
#include "convoy/params/step_parameters.h"

#include "unit/messages.h"

namespace convoy {
namespace {

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

class Recompute : public testing::Test {
 protected:
  std::vector<bool> choose(RecomputeKind kind, double limit_bytes) const {
    return choose_recomputed(network_, stage_, use_, {.recompute = kind, .limit_gib = limit_bytes / kGibibyte});
  }
  double bytes_with(const std::vector<bool>& recomputed) const {
    StagePlanSpec spec = stage_;
    spec.recomputed = recomputed;
    return static_cast<double>(stage_memory(plan_stage(network_, spec), use_).total());
  }
  double seconds_of(const std::vector<bool>& recomputed) const {
    const std::vector<double> seconds = model_recompute_seconds(network_);
    double sum = 0;
    for (std::size_t i = 0; i < seconds.size(); ++i) sum += recomputed[i] ? seconds[i] : 0;
    return sum;
  }
  std::string refusal(RecomputeKind kind, double limit_bytes) const {
    return test::message_of<RequestError>([&] { choose(kind, limit_bytes); });
  }

  Network network_ =
      make_network({.name = "resnet50", .input = ImageShape{224, 224, 3}, .micro_batch = 8, .num_classes = 1000});
  StagePlanSpec stage_{.runs = {{0, std::ssize(network_)}}, .num_frames = {3}};
  StageUse use_{.num_leaves = 4};
  const std::vector<bool> none_ = std::vector<bool>(network_.size(), false);
  const std::vector<bool> all_ = std::vector<bool>(network_.size(), true);
};

TEST_F(Recompute, WithoutALimitIsWhatIsAskedFor) {
  EXPECT_EQ(choose(RecomputeKind::kNone, 0), none_);
  EXPECT_EQ(choose(RecomputeKind::kCell, 0), all_);
  EXPECT_EQ(choose(RecomputeKind::kAuto, 0), none_);
}

TEST_F(Recompute, OfAStageTakesItsOwnCellsAlone) {
  stage_.runs = {{3, 7}, {10, 12}};
  stage_.num_frames = {3, 2};
  const std::vector<bool> chosen = choose(RecomputeKind::kCell, 0);
  for (std::int64_t i = 0; i < std::ssize(chosen); ++i)
    EXPECT_EQ(chosen[i], (i >= 3 && i < 7) || (i >= 10 && i < 12)) << i;
}

TEST_F(Recompute, TakesLessThanHalfOfTheFrames) {
  const auto frames = [&](const std::vector<bool>& recomputed) {
    StagePlanSpec spec = stage_;
    spec.recomputed = recomputed;
    const StageMemory memory = stage_memory(plan_stage(network_, spec), use_);
    return memory.frames + memory.recomputed;
  };
  EXPECT_LT(2 * frames(all_), frames(none_));
}

TEST_F(Recompute, AutoTakesNoCellTooMany) {
  const double max_bytes = bytes_with(none_), min_bytes = bytes_with(all_);
  double seconds_before = 0;
  for (const double share : {1.0, 0.9, 0.7, 0.5, 0.3, 0.1, 0.0}) {
    const double limit = min_bytes + share * (max_bytes - min_bytes);
    const std::vector<bool> chosen = choose(RecomputeKind::kAuto, limit);
    EXPECT_LE(bytes_with(chosen), limit) << share;
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      if (!chosen[i]) continue;
      std::vector<bool> fewer = chosen;
      fewer[i] = false;
      EXPECT_GT(bytes_with(fewer), limit) << "cell " << i << " is kept in vain at " << share;
    }
    EXPECT_GE(seconds_of(chosen), seconds_before) << "less memory took less time, at " << share;
    seconds_before = seconds_of(chosen);
  }
  EXPECT_EQ(choose(RecomputeKind::kAuto, max_bytes), none_);
}

TEST_F(Recompute, RefusesWhatDoesNotFit) {
  const double max_bytes = bytes_with(none_), min_bytes = bytes_with(all_);
  const std::string with_none = refusal(RecomputeKind::kNone, 0.5 * (max_bytes + min_bytes));
  EXPECT_NE(with_none.find("cells stem .. head take"), std::string::npos) << with_none;
  EXPECT_NE(with_none.find("memory.recompute = auto"), std::string::npos) << with_none;
  for (const RecomputeKind kind : {RecomputeKind::kNone, RecomputeKind::kCell, RecomputeKind::kAuto}) {
    const std::string told = refusal(kind, min_bytes - 1e6);
    EXPECT_NE(told.find("memory.limit_gib = "), std::string::npos) << told;
    EXPECT_NE(told.find("a smaller batch.micro"), std::string::npos) << told;
    EXPECT_EQ(told.find("memory.recompute = auto, a smaller"), std::string::npos) << "would not help: " << told;
  }
  EXPECT_EQ(refusal(RecomputeKind::kCell, min_bytes), test::kNothingThrown);
}

TEST_F(Recompute, KeepsNothingOfWhatIsFrozenBeforeAllThatIsTrained) {
  const Network frozen = make_network({.name = "resnet50",
                                       .input = ImageShape{224, 224, 3},
                                       .micro_batch = 8,
                                       .num_classes = 1000,
                                       .freeze = {"conv1.*", "bn1.*", "layer1.*", "layer3.1.*"}});
  const StagePlan plan = plan_stage(frozen, stage_);
  const std::vector<bool> expected = [&] {
    std::vector<bool> shares(frozen.size(), false);
    std::fill_n(shares.begin(), 4, true);  // the stem and layer1
    return shares;
  }();
  EXPECT_EQ(plan.chunks.front().is_recomputed, expected);
}

}  // namespace
}  // namespace convoy
