/// Every promise of schedule.h about the lists themselves, for every schedule over stages 1-8, micro-batches 1-32 and 1
/// or 3 buckets, at equal costs and at uneven ones; and the pictures.
#include "convoy/schedule/schedule.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::draw;
using testing::pipeline;

constexpr std::int64_t kMostStages = 8, kMostMicroBatches = 32;

struct Case {
  std::string name;
  ScheduleKind kind;
  std::int64_t chunks = 1;
  bool splits_backward = false;
  bool follows_costs = false;

  Op last_backward() const { return splits_backward ? Op::kBackwardWeight : Op::kBackward; }
  Op first_backward() const { return splits_backward ? Op::kBackwardInput : Op::kBackward; }
};

/// A chunk of a list under test, with the questions that the promises are made of.
class List {
 public:
  List(const StageProgram& program, const PipelineSpec& spec, std::int64_t stage, std::int64_t chunk)
      : stage_(stage), chunk_(chunk), spec_(spec), size_(std::ssize(program)) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Instruction& instruction = program[i];
      if (instruction.op == Op::kAgreeOnUpdate) agree_ = static_cast<std::int64_t>(i);
      if (instruction.chunk != chunk) continue;
      Place& place = places_[{instruction.op, instruction.micro_batch, instruction.bucket}];
      ++place.count;
      place.at = static_cast<std::int64_t>(i);
    }
  }

  bool first() const { return testing::is_first(stage_, chunk_); }
  bool last() const { return testing::is_last(spec_, stage_, chunk_); }
  std::int64_t micro_batches() const { return spec_.micro_batches; }
  std::int64_t num_buckets() const {
    return spec_.num_buckets[static_cast<std::size_t>(chunk_ * spec_.stages + stage_)];
  }
  std::int64_t size() const { return size_; }
  std::int64_t agree() const { return agree_; }

  std::int64_t count(Op op, std::int64_t m, std::int64_t bucket = kAllBuckets) const {
    const auto place = places_.find({op, m, bucket});
    return place == places_.end() ? 0 : place->second.count;
  }
  std::int64_t at(Op op, std::int64_t m, std::int64_t bucket = kAllBuckets) const {
    const auto place = places_.find({op, m, bucket});
    return place == places_.end() ? size_ : place->second.at;
  }
  /// The first and the last part of one micro-batch's backward, or half of it.
  std::int64_t begin_of(Op backward, std::int64_t m) const {
    const bool in_parts = m == micro_batches() - 1 && backward != Op::kBackwardInput;
    return at(backward, m, in_parts ? num_buckets() - 1 : kAllBuckets);
  }
  std::int64_t end_of(Op backward, std::int64_t m) const {
    const bool in_parts = m == micro_batches() - 1 && backward != Op::kBackwardInput;
    return at(backward, m, in_parts ? 0 : kAllBuckets);
  }

 private:
  struct Place {
    std::int64_t count = 0, at = 0;
  };
  std::int64_t stage_, chunk_;
  const PipelineSpec& spec_;
  std::int64_t size_, agree_ = -1;
  std::map<std::tuple<Op, std::int64_t, std::int64_t>, Place> places_;
};

class TrainingSchedule : public ::testing::TestWithParam<Case> {
 protected:
  static void for_each_pipeline(const std::function<void(const PipelineSpec&, const Schedule&)>& check,
                                bool agree_on_update = false) {
    std::mt19937 engine(7);
    for (std::int64_t p = 1; p <= kMostStages; ++p) {
      for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
        for (const bool uneven : {false, true}) {
          if (uneven && !GetParam().follows_costs) continue;
          const std::int64_t buckets = m % 2 == 0 ? 1 : 3;
          SCOPED_TRACE(
              fmt::format("{} stages, {} micro-batches, {} buckets{}", p, m, buckets, uneven ? ", uneven costs" : ""));
          PipelineSpec spec =
              pipeline({.stages = p, .micro_batches = m, .num_buckets = buckets, .chunks = GetParam().chunks});
          spec.agree_on_update = agree_on_update;
          if (uneven) spec.costs = testing::uneven_costs(spec.virtual_stages(), engine);
          check(spec, make_schedule(GetParam().kind, spec));
          if (HasFailure()) return;
        }
      }
    }
  }

  /// Calls `check` for each chunk of each list of each pipeline.
  static void for_each_list(const std::function<void(const List&)>& check, bool agree_on_update = false) {
    for_each_pipeline(
        [&](const PipelineSpec& spec, const Schedule& schedule) {
          ASSERT_EQ(std::ssize(schedule), spec.stages);
          for (std::int64_t s = 0; s < spec.stages; ++s) {
            for (std::int64_t c = 0; c < spec.chunks; ++c) {
              SCOPED_TRACE(fmt::format("stage {}, chunk {}", s, c));
              check(List(schedule[static_cast<std::size_t>(s)], spec, s, c));
            }
          }
        },
        agree_on_update);
  }
};

TEST_P(TrainingSchedule, TakesEachMicroBatchOnceThroughEachChunk) {
  const bool splits = GetParam().splits_backward;
  for_each_list([splits](const List& list) {
    for (std::int64_t m = 0; m < list.micro_batches(); ++m) {
      const bool whole = m + 1 < list.micro_batches();
      EXPECT_EQ(list.count(Op::kLoadInput, m), list.first());
      EXPECT_EQ(list.count(Op::kRecvActivation, m), !list.first());
      EXPECT_EQ(list.count(Op::kForward, m), 1);
      EXPECT_EQ(list.count(Op::kSendActivation, m), !list.last());
      EXPECT_EQ(list.count(Op::kLoadLabels, m), list.last());
      EXPECT_EQ(list.count(Op::kLoss, m), list.last());
      EXPECT_EQ(list.count(Op::kRecvGradient, m), !list.last());
      EXPECT_EQ(list.count(Op::kBackward, m), !splits && whole);
      EXPECT_EQ(list.count(Op::kBackwardInput, m), splits);
      EXPECT_EQ(list.count(Op::kBackwardWeight, m), splits && whole);
      EXPECT_EQ(list.count(Op::kSendGradient, m), !list.first());
    }
    for (std::int64_t b = 0; b < list.num_buckets(); ++b) {
      EXPECT_EQ(list.count(GetParam().last_backward(), list.micro_batches() - 1, b), 1);
      for (const Op op : {Op::kReduceBucket, Op::kFoldBucket, Op::kUpdateBucket, Op::kGatherBucket})
        EXPECT_EQ(list.count(op, -1, b), 1);
    }
  });
}

TEST_P(TrainingSchedule, HasNothingElse) {
  for_each_pipeline([](const PipelineSpec& spec, const Schedule& schedule) {
    for (std::int64_t s = 0; s < spec.stages; ++s) {
      std::int64_t expected = 0;
      for (std::int64_t c = 0; c < spec.chunks; ++c) {
        const bool first = testing::is_first(s, c), last = testing::is_last(spec, s, c);
        const std::int64_t forward = last ? 4 : 3;  // in, forward, out; or in, forward, labels, loss
        const std::int64_t backward = !last + 1 + !first + GetParam().splits_backward;
        const std::int64_t buckets = spec.num_buckets[static_cast<std::size_t>(c * spec.stages + s)];
        expected += (forward + backward) * spec.micro_batches - 1 + 5 * buckets;  // the last backward is in parts
      }
      EXPECT_EQ(std::ssize(schedule[static_cast<std::size_t>(s)]), expected);
    }
  });
}

TEST_P(TrainingSchedule, KeepsTheOrderOfDataWithinAChunk) {
  const Op backward = GetParam().first_backward();
  for_each_list([backward](const List& list) {
    for (std::int64_t m = 0; m < list.micro_batches(); ++m) {
      const auto in = list.at(list.first() ? Op::kLoadInput : Op::kRecvActivation, m);
      const auto forward = list.at(Op::kForward, m);
      const auto out = list.at(list.last() ? Op::kLoss : Op::kSendActivation, m);
      EXPECT_LT(in, forward);
      EXPECT_LT(forward, out);
      EXPECT_LT(out, list.begin_of(backward, m));
      if (list.last()) {
        EXPECT_EQ(list.at(Op::kLoadLabels, m) + 1, out) << "labels are loaded right before the loss";
      } else {
        EXPECT_LT(out, list.at(Op::kRecvGradient, m));
        EXPECT_LT(list.at(Op::kRecvGradient, m), list.begin_of(backward, m));
      }
      if (!list.first()) {
        EXPECT_EQ(list.end_of(backward, m) + 1, list.at(Op::kSendGradient, m)) << "before anything that waits";
      }
      if (backward == Op::kBackwardInput) {
        EXPECT_LT(list.end_of(backward, m), list.begin_of(Op::kBackwardWeight, m));
      }
    }
  });
}

TEST_P(TrainingSchedule, RunsEveryPassInAscendingOrder) {
  for_each_list([](const List& list) {
    for (std::int64_t m = 1; m < list.micro_batches(); ++m) {
      EXPECT_LT(list.at(Op::kForward, m - 1), list.at(Op::kForward, m));
      for (const Op op : {GetParam().first_backward(), GetParam().last_backward()})
        EXPECT_LT(list.end_of(op, m - 1), list.begin_of(op, m));
    }
  });
}

TEST_P(TrainingSchedule, ReducesABucketRightAfterItsLastBackward) {
  for_each_list([](const List& list) {
    const std::int64_t last = list.micro_batches() - 1;
    for (std::int64_t b = 0; b < list.num_buckets(); ++b) {
      const auto done = list.at(GetParam().last_backward(), last, b);
      const bool sends = b == 0 && !list.first() && !GetParam().splits_backward;
      EXPECT_EQ(list.at(Op::kReduceBucket, -1, b), done + 1 + sends);
      if (b > 0) {
        EXPECT_LT(done, list.at(GetParam().last_backward(), last, b - 1)) << "from the loss down";
      }
    }
  });
}

TEST_P(TrainingSchedule, FoldsABucketOnceTheNextIsReducedUpdatesItAndGathersAtTheEnd) {
  for_each_pipeline([](const PipelineSpec&, const Schedule& schedule) {
    for (const StageProgram& program : schedule) {
      const auto of = [&](Op op) {
        std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> found;  // chunk, bucket, place
        for (std::size_t i = 0; i < program.size(); ++i)
          if (program[i].op == op) found.emplace_back(program[i].chunk, program[i].bucket, i);
        return found;
      };
      const auto reduces = of(Op::kReduceBucket), folds = of(Op::kFoldBucket), updates = of(Op::kUpdateBucket),
                 gathers = of(Op::kGatherBucket);
      for (std::size_t k = 0; k < reduces.size(); ++k) {
        const auto [chunk, bucket, reduce] = reduces[k];
        const auto [fold_chunk, fold_bucket, fold] = folds[k];
        const auto [update_chunk, update_bucket, update] = updates[k];
        const auto [gather_chunk, gather_bucket, gather] = gathers[k];
        EXPECT_EQ(std::tie(fold_chunk, fold_bucket), std::tie(chunk, bucket));
        EXPECT_EQ(std::tie(update_chunk, update_bucket), std::tie(chunk, bucket));
        EXPECT_EQ(std::tie(gather_chunk, gather_bucket), std::tie(chunk, bucket));
        const auto before = k + 1 < reduces.size() ? std::get<2>(reduces[k + 1]) : std::get<2>(updates[k - 1]);
        if (reduces.size() > 1) {
          EXPECT_EQ(fold, before + 1);
        }
        EXPECT_EQ(update, fold + 1);
        EXPECT_EQ(gather, std::ssize(program) - std::ssize(gathers) + static_cast<std::int64_t>(k));
      }
    }
  });
}

// What fp16 and clipping need: no rank may update before it knows everyone's gradients.
TEST_P(TrainingSchedule, AgreesBetweenTheLastFoldAndTheFirstUpdateWhereAsked) {
  for_each_list(
      [](const List& list) {
        ASSERT_GE(list.agree(), 0);
        for (std::int64_t b = 0; b < list.num_buckets(); ++b) {
          EXPECT_LT(list.at(Op::kReduceBucket, -1, b), list.at(Op::kFoldBucket, -1, b));
          EXPECT_LT(list.at(Op::kFoldBucket, -1, b), list.agree());
          EXPECT_LT(list.agree(), list.at(Op::kUpdateBucket, -1, b));
          EXPECT_LT(list.at(Op::kUpdateBucket, -1, b), list.at(Op::kGatherBucket, -1, b));
        }
      },
      true);
}

TEST_P(TrainingSchedule, MatchesSendsAndReceivesInOrder) {
  const auto order = [](const StageProgram& program, Op op, std::int64_t chunk) {
    std::vector<std::int64_t> micro_batches;
    for (const Instruction& i : program) {
      if (i.op == op && i.chunk == chunk) micro_batches.push_back(i.micro_batch);
    }
    return micro_batches;
  };
  for_each_pipeline([&](const PipelineSpec& spec, const Schedule& schedule) {
    const auto of = [&](std::int64_t x, Op op) {
      return order(schedule[static_cast<std::size_t>(x % spec.stages)], op, x / spec.stages);
    };
    for (std::int64_t x = 0; x + 1 < spec.virtual_stages(); ++x) {
      EXPECT_EQ(of(x, Op::kSendActivation), of(x + 1, Op::kRecvActivation));
      EXPECT_EQ(of(x + 1, Op::kSendGradient), of(x, Op::kRecvGradient));
    }
  });
}

TEST_P(TrainingSchedule, ReleasesAChunksSlotsInTheOrderInWhichTheyAreTaken) {
  for_each_pipeline([](const PipelineSpec& spec, const Schedule& schedule) {
    for (std::int64_t s = 0; s < spec.stages; ++s) {
      const StageProgram& program = schedule[static_cast<std::size_t>(s)];
      const auto uses = slot_uses(program);
      ASSERT_EQ(std::ssize(uses), spec.micro_batches * spec.chunks);
      std::vector<std::int64_t> next(static_cast<std::size_t>(spec.chunks), 0);
      for (const SlotUse& use : uses) {
        EXPECT_EQ(use.micro_batch, next[static_cast<std::size_t>(use.chunk)]++);
        const std::int64_t bucket = use.micro_batch == spec.micro_batches - 1 ? 0 : kAllBuckets;
        const Instruction release{GetParam().last_backward(), use.micro_batch, bucket, use.chunk};
        EXPECT_EQ(program[use.released_at], release);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainingSchedule,
    ::testing::Values(
        Case{.name = "Naive", .kind = ScheduleKind::kNaive}, Case{.name = "Gpipe", .kind = ScheduleKind::kGpipe},
        Case{.name = "OneFOneB", .kind = ScheduleKind::k1F1B},
        Case{.name = "Interleaved2", .kind = ScheduleKind::kInterleaved, .chunks = 2, .follows_costs = true},
        Case{.name = "Interleaved3", .kind = ScheduleKind::kInterleaved, .chunks = 3, .follows_costs = true},
        Case{.name = "ZeroBubble", .kind = ScheduleKind::kZeroBubble, .splits_backward = true, .follows_costs = true}),
    [](const auto& instance) { return instance.param.name; });

TEST(EvaluationSchedule, RunsForwardOnceAMicroBatchWithOneInFlight) {
  for (std::int64_t p = 1; p <= kMostStages; ++p) {
    for (std::int64_t m = 1; m <= kMostMicroBatches; ++m) {
      const Schedule schedule = make_evaluation(pipeline({.stages = p, .micro_batches = m}));
      ASSERT_EQ(std::ssize(schedule), p);
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

TEST(EvaluationSchedule, TakesGroupsOfMicroBatchesThroughSeveralChunks) {
  EXPECT_EQ(draw(make_evaluation(pipeline({.stages = 2, .micro_batches = 5, .chunks = 2})), 2),
            "F0 F1 f0 f1 F2 F3 f2 f3 F4 .  f4 .\n"
            ".  F0 F1 f0 f1 F2 F3 f2 f3 F4 .  f4\n");
  for (const StageProgram& program : make_evaluation(pipeline({.stages = 3, .micro_batches = 7, .chunks = 2})))
    EXPECT_EQ(max_in_flight(program), 1);
}

TEST(Schedule, PicturesInTheCommentsAreTrue) {
  EXPECT_EQ(draw(make_naive(pipeline({.stages = 3, .micro_batches = 2}))),
            "F0 .  .  .  .  B0 F1 .  .  .  .  B1\n"
            ".  F0 .  .  B0 .  .  F1 .  .  B1 .\n"
            ".  .  F0 B0 .  .  .  .  F1 B1 .  .\n");
  EXPECT_EQ(draw(make_gpipe(pipeline({.stages = 3, .micro_batches = 4}))),
            "F0 F1 F2 F3 .  .  .  .  B0 B1 B2 B3\n"
            ".  F0 F1 F2 F3 .  .  B0 B1 B2 B3 .\n"
            ".  .  F0 F1 F2 F3 B0 B1 B2 B3 .  .\n");
  EXPECT_EQ(draw(make_1f1b(pipeline({.stages = 3, .micro_batches = 5}))),
            "F0 F1 F2 .  .  B0 F3 B1 F4 B2 .  B3 .  B4\n"
            ".  F0 F1 .  B0 F2 B1 F3 B2 F4 B3 .  B4 .\n"
            ".  .  F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 .  .\n");
  EXPECT_EQ(draw(make_interleaved(pipeline({.stages = 3, .micro_batches = 6, .chunks = 2})), 2),
            "F0 F1 F2 f0 f1 f2 F3 F4 b0 F5 b1 .  f3 b2 f4 B0 f5 B1 B2 .  b3 .  b4 .  b5 B3 B4 B5\n"
            ".  F0 F1 F2 f0 f1 f2 b0 F3 b1 F4 b2 F5 B0 f3 B1 f4 B2 f5 b3 .  b4 .  b5 B3 B4 B5 .\n"
            ".  .  F0 F1 F2 f0 b0 f1 b1 f2 b2 F3 B0 F4 B1 F5 B2 f3 b3 f4 b4 f5 b5 B3 B4 B5 .  .\n");
  EXPECT_EQ(draw(make_zero_bubble(pipeline({.stages = 4, .micro_batches = 8}))),
            "F0 F1 F2 F3 .  .  .  B0 W0 F4 B1 W1 F5 B2 W2 F6 B3 W3 F7 B4 W4 B5 W5 B6 W6 B7 W7\n"
            ".  F0 F1 F2 .  .  B0 F3 B1 W0 F4 B2 W1 F5 B3 W2 F6 B4 W3 F7 B5 W4 B6 W5 B7 W6 W7\n"
            ".  .  F0 F1 .  B0 F2 B1 F3 B2 W0 F4 B3 W1 F5 B4 W2 F6 B5 W3 F7 B6 W4 B7 W5 W6 W7\n"
            ".  .  .  F0 B0 F1 B1 F2 B2 F3 B3 W0 F4 B4 W1 F5 B5 W2 F6 B6 W3 F7 B7 W4 W5 W6 W7\n");
  EXPECT_EQ(draw(make_evaluation(pipeline({.stages = 3, .micro_batches = 4}))),
            "F0 F1 F2 F3 .  .\n"
            ".  F0 F1 F2 F3 .\n"
            ".  .  F0 F1 F2 F3\n");
}

std::string text_of(const StageProgram& program) {
  std::string text;
  for (const Instruction& i : program) text += to_string(i) + "\n";
  return text;
}

TEST(Schedule, TailOfAStepReadsAsPromised) {
  EXPECT_EQ(text_of(make_1f1b(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 3}))[1]),
            "RecvActivation 0\nForward 0\nLoadLabels 0\nLoss 0\n"
            "Backward 0 bucket 2\nReduceBucket 2\n"
            "Backward 0 bucket 1\nReduceBucket 1\nFoldBucket 2\nUpdateBucket 2\n"
            "Backward 0 bucket 0\nSendGradient 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\nGatherBucket 2\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, TailOfAZeroBubbleStepGoesByBucketInItsWeights) {
  EXPECT_EQ(text_of(make_zero_bubble(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 2}))[1]),
            "RecvActivation 0\nForward 0\nLoadLabels 0\nLoss 0\n"
            "BackwardInput 0\nSendGradient 0\n"
            "BackwardWeight 0 bucket 1\nReduceBucket 1\n"
            "BackwardWeight 0 bucket 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, TailOfAnInterleavedStepFoldsAChunksLastBucketBesideTheNextChunk) {
  EXPECT_EQ(text_of(make_interleaved(pipeline({.stages = 2, .micro_batches = 1, .num_buckets = 2, .chunks = 2}))[0]),
            "LoadInput 0\nForward 0\nSendActivation 0\n"
            "RecvActivation 0 chunk 1\nForward 0 chunk 1\nSendActivation 0 chunk 1\n"
            "RecvGradient 0 chunk 1\nBackward 0 bucket 1 chunk 1\nReduceBucket 1 chunk 1\n"
            "Backward 0 bucket 0 chunk 1\nSendGradient 0 chunk 1\nReduceBucket 0 chunk 1\n"
            "FoldBucket 1 chunk 1\nUpdateBucket 1 chunk 1\n"
            "RecvGradient 0\nBackward 0 bucket 1\nReduceBucket 1\nFoldBucket 0 chunk 1\nUpdateBucket 0 chunk 1\n"
            "Backward 0 bucket 0\nReduceBucket 0\nFoldBucket 1\nUpdateBucket 1\n"
            "FoldBucket 0\nUpdateBucket 0\n"
            "GatherBucket 1 chunk 1\nGatherBucket 0 chunk 1\nGatherBucket 1\nGatherBucket 0\n");
}

TEST(Schedule, RefusesWhatIsNoPipeline) {
  EXPECT_THROW(make_gpipe({.stages = 0, .micro_batches = 1, .num_buckets = {}}), Error);
  EXPECT_THROW(make_gpipe({.stages = 1, .micro_batches = 0, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_1f1b({.stages = 2, .micro_batches = 1, .num_buckets = {1}}), Error);
  EXPECT_THROW(make_naive({.stages = 2, .micro_batches = 1, .num_buckets = {1, 0}}), Error);
  EXPECT_THROW(make_interleaved({.stages = 2, .micro_batches = 1, .chunks = 0, .num_buckets = {}}), Error);
  EXPECT_THROW(make_interleaved({.stages = 2, .micro_batches = 1, .chunks = 2, .num_buckets = {1, 1}}), Error);
  EXPECT_THROW(make_zero_bubble({.stages = 2, .micro_batches = 1, .num_buckets = {1, 1}, .costs = {.chunks = {{}}}}),
               Error);
}

TEST(Schedule, RefusesSeveralChunksWhereTheKindHasOne) {
  const PipelineSpec spec = pipeline({.stages = 2, .micro_batches = 2, .chunks = 2});
  for (const ScheduleKind kind :
       {ScheduleKind::kNaive, ScheduleKind::kGpipe, ScheduleKind::k1F1B, ScheduleKind::kZeroBubble})
    EXPECT_THROW(make_schedule(kind, spec), Error);
}

}  // namespace
}  // namespace convoy
