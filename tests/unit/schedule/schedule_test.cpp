/// Every promise of schedule.h, for every schedule over stages 1-8, micro-batches 1-32 and 1 or 3 buckets; and the
/// pictures.
#include "convoy/schedule/schedule.h"

#include <algorithm>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::draw;
using testing::pipeline;

constexpr std::int64_t kMostStages = 8, kMostMicroBatches = 32;

struct TrainingCase {
  std::string name;
  ScheduleKind kind;
  /// In flight, as promised, in stage s of p with m micro-batches.
  std::function<std::int64_t(std::int64_t s, std::int64_t p, std::int64_t m)> in_flight;
};

/// A list under test, with the questions that the promises are made of.
struct List {
  const StageProgram& program;
  std::int64_t stage, stages, micro_batches, num_buckets;

  bool first() const { return stage == 0; }
  bool last() const { return stage == stages - 1; }
  std::int64_t count(const Instruction& i) const { return std::count(program.begin(), program.end(), i); }
  std::ptrdiff_t at(const Instruction& i) const {
    return std::find(program.begin(), program.end(), i) - program.begin();
  }
  std::ptrdiff_t at(Op op, std::int64_t m) const { return at({op, m}); }
  /// The first and the last part of a micro-batch's backward.
  std::ptrdiff_t backward_begin(std::int64_t m) const {
    return m == micro_batches - 1 ? at({Op::kBackward, m, num_buckets - 1}) : at(Op::kBackward, m);
  }
  std::ptrdiff_t backward_end(std::int64_t m) const {
    return m == micro_batches - 1 ? at({Op::kBackward, m, 0}) : at(Op::kBackward, m);
  }
};

class TrainingSchedule : public ::testing::TestWithParam<TrainingCase> {
 protected:
  /// Calls `check` for each list of each pipeline.
  static void for_each_list(const std::function<void(const List&)>& check) {
    for_each_pipeline([&](const PipelineSpec& spec, const Schedule& schedule) {
      ASSERT_EQ(static_cast<std::int64_t>(schedule.size()), spec.stages);
      for (std::int64_t s = 0; s < spec.stages; ++s) {
        const auto index = static_cast<std::size_t>(s);
        SCOPED_TRACE(fmt::format("stage {}", s));
        check({schedule[index], s, spec.stages, spec.micro_batches, spec.num_buckets[index]});
      }
    });
  }

  static void for_each_pipeline(const std::function<void(const PipelineSpec&, const Schedule&)>& check) {
    for (std::int64_t p = 1; p <= kMostStages; ++p) {
      for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
        for (const std::int64_t buckets : {1, 3}) {
          SCOPED_TRACE(fmt::format("{} stages, {} micro-batches, {} buckets", p, m, buckets));
          const PipelineSpec spec = pipeline(p, m, buckets);
          check(spec, make_schedule(GetParam().kind, spec));
          if (HasFailure()) return;
        }
      }
    }
  }
};

TEST_P(TrainingSchedule, TakesEachMicroBatchOnceThroughEachStage) {
  for_each_list([](const List& list) {
    for (std::int64_t m = 0; m < list.micro_batches; ++m) {
      EXPECT_EQ(list.count({Op::kLoadInput, m}), list.first());
      EXPECT_EQ(list.count({Op::kRecvActivation, m}), !list.first());
      EXPECT_EQ(list.count({Op::kForward, m}), 1);
      EXPECT_EQ(list.count({Op::kSendActivation, m}), !list.last());
      EXPECT_EQ(list.count({Op::kLoadLabels, m}), list.last());
      EXPECT_EQ(list.count({Op::kLoss, m}), list.last());
      EXPECT_EQ(list.count({Op::kRecvGradient, m}), !list.last());
      EXPECT_EQ(list.count({Op::kBackward, m}), m + 1 < list.micro_batches);
      EXPECT_EQ(list.count({Op::kSendGradient, m}), !list.first());
    }
    for (std::int64_t b = 0; b < list.num_buckets; ++b) {
      EXPECT_EQ(list.count({Op::kBackward, list.micro_batches - 1, b}), 1);
      EXPECT_EQ(list.count({Op::kReduceBucket, -1, b}), 1);
      EXPECT_EQ(list.count({Op::kFoldBucket, -1, b}), 1);
      EXPECT_EQ(list.count({Op::kUpdateBucket, -1, b}), 1);
      EXPECT_EQ(list.count({Op::kGatherBucket, -1, b}), 1);
    }
    // Nothing else: six instructions a micro-batch (in, forward, out, in, backward, out; the last stage has labels and
    // loss for the two in the middle), five in the first stage, which sends no gradient. The last backward is in parts.
    const std::int64_t a_micro_batch = list.first() ? 5 : 6;
    EXPECT_EQ(static_cast<std::int64_t>(list.program.size()),
              a_micro_batch * list.micro_batches - 1 + 5 * list.num_buckets);
  });
}

TEST_P(TrainingSchedule, KeepsTheOrderOfDataWithinAStage) {
  for_each_list([](const List& list) {
    for (std::int64_t m = 0; m < list.micro_batches; ++m) {
      const auto in = list.at(list.first() ? Op::kLoadInput : Op::kRecvActivation, m);
      const auto forward = list.at(Op::kForward, m);
      const auto out = list.at(list.last() ? Op::kLoss : Op::kSendActivation, m);
      EXPECT_LT(in, forward);
      EXPECT_LT(forward, out);
      EXPECT_LT(out, list.backward_begin(m));
      if (list.last()) {
        EXPECT_EQ(list.at(Op::kLoadLabels, m) + 1, out) << "labels are loaded right before the loss";
      } else {
        EXPECT_LT(out, list.at(Op::kRecvGradient, m));
        EXPECT_LT(list.at(Op::kRecvGradient, m), list.backward_begin(m));
      }
      if (!list.first()) {
        EXPECT_EQ(list.backward_end(m) + 1, list.at(Op::kSendGradient, m)) << "before anything that waits";
      }
    }
  });
}

TEST_P(TrainingSchedule, RunsBackwardInAscendingOrder) {
  for_each_list([](const List& list) {
    for (std::int64_t m = 1; m < list.micro_batches; ++m) {
      EXPECT_LT(list.backward_end(m - 1), list.backward_begin(m));
    }
  });
}

TEST_P(TrainingSchedule, ReducesABucketAfterItsLastBackwardThenUpdatesAndGathers) {
  for_each_list([](const List& list) {
    const std::int64_t last = list.micro_batches - 1;
    for (std::int64_t b = 0; b < list.num_buckets; ++b) {
      const auto reduce = list.at({Op::kReduceBucket, -1, b});
      const auto fold = list.at({Op::kFoldBucket, -1, b});
      const auto update = list.at({Op::kUpdateBucket, -1, b});
      EXPECT_LT(list.at({Op::kBackward, last, b}), reduce);
      EXPECT_LT(reduce, fold);
      EXPECT_EQ(fold + 1, update);
      EXPECT_LT(update, list.at({Op::kGatherBucket, -1, b}));
      if (b > 0) {
        EXPECT_LT(list.at({Op::kBackward, last, b}), list.at({Op::kBackward, last, b - 1})) << "from the loss down";
        EXPECT_EQ(list.at({Op::kReduceBucket, -1, b - 1}) + 1, fold) << "one bucket later";
      }
      EXPECT_GE(list.at({Op::kGatherBucket, -1, b}),
                static_cast<std::ptrdiff_t>(list.program.size()) - list.num_buckets)
          << "gathers end the list";
    }
  });
}

// What fp16 and clipping need: no rank may update before it knows everyone's gradients.
TEST_P(TrainingSchedule, FoldsAllBucketsBeforeRanksAgreeAndUpdatesAllAfter) {
  for (const std::int64_t buckets : {1, 3}) {
    PipelineSpec spec = pipeline(3, 5, buckets);
    spec.agree_on_update = true;
    const Schedule schedule = make_schedule(GetParam().kind, spec);
    for (std::int64_t s = 0; s < spec.stages; ++s) {
      const List list{schedule[static_cast<std::size_t>(s)], s, spec.stages, spec.micro_batches, buckets};
      EXPECT_EQ(list.count({Op::kAgreeOnUpdate}), 1);
      const auto agree = list.at({Op::kAgreeOnUpdate});
      for (std::int64_t b = 0; b < buckets; ++b) {
        EXPECT_LT(list.at({Op::kReduceBucket, -1, b}), list.at({Op::kFoldBucket, -1, b}));
        EXPECT_LT(list.at({Op::kFoldBucket, -1, b}), agree);
        EXPECT_LT(agree, list.at({Op::kUpdateBucket, -1, b}));
        EXPECT_LT(list.at({Op::kUpdateBucket, -1, b}), list.at({Op::kGatherBucket, -1, b}));
      }
    }
    simulate(schedule, std::vector<StageCost>(3, {.forward_seconds = 1, .backward_seconds = 2}));  // ends
  }
}

TEST_P(TrainingSchedule, MatchesSendsAndReceivesInOrder) {
  const auto order = [](const StageProgram& program, Op op) {
    std::vector<std::int64_t> micro_batches;
    for (const Instruction& i : program) {
      if (i.op == op) micro_batches.push_back(i.micro_batch);
    }
    return micro_batches;
  };
  for_each_pipeline([&](const PipelineSpec&, const Schedule& schedule) {
    for (std::size_t s = 0; s + 1 < schedule.size(); ++s) {
      EXPECT_EQ(order(schedule[s], Op::kSendActivation), order(schedule[s + 1], Op::kRecvActivation));
      EXPECT_EQ(order(schedule[s + 1], Op::kSendGradient), order(schedule[s], Op::kRecvGradient));
    }
  });
}

TEST_P(TrainingSchedule, HoldsExactlyAsManyMicroBatchesAsPromised) {
  for_each_list([](const List& list) {
    EXPECT_EQ(max_in_flight(list.program), GetParam().in_flight(list.stage, list.stages, list.micro_batches));
  });
}

TEST_P(TrainingSchedule, ReleasesSlotsInTheOrderInWhichTheyAreTaken) {
  for_each_list([](const List& list) {
    const auto uses = slot_uses(list.program);
    ASSERT_EQ(static_cast<std::int64_t>(uses.size()), list.micro_batches);
    for (std::size_t k = 0; k < uses.size(); ++k) {
      EXPECT_EQ(uses[k].micro_batch, static_cast<std::int64_t>(k));
      EXPECT_EQ(static_cast<std::ptrdiff_t>(uses[k].released_at), list.backward_end(uses[k].micro_batch));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainingSchedule,
    ::testing::Values(TrainingCase{"Naive", ScheduleKind::kNaive, [](auto, auto, auto) { return 1; }},
                      TrainingCase{"Gpipe", ScheduleKind::kGpipe, [](auto, auto, auto m) { return m; }},
                      TrainingCase{"OneFOneB", ScheduleKind::k1F1B,
                                   [](auto s, auto p, auto m) { return std::min(p - s, m); }}),
    [](const auto& instance) { return instance.param.name; });

TEST(EvaluationSchedule, RunsForwardOnceAMicroBatchWithOneInFlight) {
  for (std::int64_t p = 1; p <= kMostStages; ++p) {
    for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
      const Schedule schedule = make_evaluation(pipeline(p, m));
      ASSERT_EQ(static_cast<std::int64_t>(schedule.size()), p);
      for (std::int64_t s = 0; s < p; ++s) {
        SCOPED_TRACE(fmt::format("stage {} of {}, {} micro-batches", s, p, m));
        StageProgram expected;
        for (std::int64_t i = 0; i < m; ++i) {
          expected.push_back({s == 0 ? Op::kLoadInput : Op::kRecvActivation, i});
          expected.push_back({Op::kForward, i});
          if (s == p - 1) expected.push_back({Op::kLoadLabels, i});
          expected.push_back({s == p - 1 ? Op::kLoss : Op::kSendActivation, i});
        }
        ASSERT_EQ(schedule[static_cast<std::size_t>(s)], expected);
        ASSERT_EQ(max_in_flight(expected), 1);
      }
    }
  }
}

TEST(Schedule, PicturesInTheCommentsAreTrue) {
  EXPECT_EQ(draw(make_naive(pipeline(3, 2))),
            "F0 .  .  .  .  B0 F1 .  .  .  .  B1\n"
            ".  F0 .  .  B0 .  .  F1 .  .  B1 .\n"
            ".  .  F0 B0 .  .  .  .  F1 B1 .  .\n");
  EXPECT_EQ(draw(make_gpipe(pipeline(3, 4))),
            "F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3\n"
            ".  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .\n"
            ".  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .\n");
  EXPECT_EQ(draw(make_1f1b(pipeline(3, 5))),
            "F0 F1 F2 .  .  B0 F3 B1 F4 B2 .  B3 .  B4\n"
            ".  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 .  B4 .\n"
            ".  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 .  .\n");
  EXPECT_EQ(draw(make_evaluation(pipeline(3, 4))),
            "F0 F1 F2 F3 .  .\n"
            ".  F0 F1 F2 F3 .\n"
            ".  .  F0 F1 F2 F3\n");
}

TEST(Schedule, TailOfAStepReadsAsPromised) {
  const StageProgram last = make_1f1b(pipeline(2, 1, 3))[1];
  std::string text;
  for (const Instruction& i : last) text += to_string(i) + "\n";
  EXPECT_EQ(text,
            "RecvActivation 0\nForward 0\nLoadLabels 0\nLoss 0\n"
            "Backward 0 bucket 2\nReduceBucket 2\n"
            "Backward 0 bucket 1\nReduceBucket 1\nFoldBucket 2\nUpdateBucket 2\n"
            "Backward 0 bucket 0\nSendGradient 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\nGatherBucket 2\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, RefusesWhatIsNoPipeline) {
  EXPECT_THROW(make_gpipe({.stages = 0, .micro_batches = 1, .num_buckets = {}}), Error);
  EXPECT_THROW(make_gpipe({.stages = 1, .micro_batches = 0, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_1f1b({.stages = 2, .micro_batches = 1, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_naive({.stages = 2, .micro_batches = 1, .num_buckets = {1, 0}}), Error);
}

}  // namespace
}  // namespace convoy
