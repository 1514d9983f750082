/// Tests every guarantee of schedule.h about the lists of a training step, for every schedule with stages 1-8,
/// micro-batches 1-32 and 1 or 3 buckets, at equal costs and at uneven ones.
#include <functional>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/schedule/schedule.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::pipeline;

struct Case {
  std::string name;
  ScheduleKind kind;
  std::int64_t chunks = 1;
  bool splits_backward = false;
  bool follows_costs = false;

  Op last_backward() const { return splits_backward ? Op::kBackwardWeight : Op::kBackward; }
  Op first_backward() const { return splits_backward ? Op::kBackwardInput : Op::kBackward; }
};

/// A chunk of a list under test, with the queries that the guarantees consist of.
class List {
 public:
  List(const StageProgram& program, const PipelineSpec& spec, std::int64_t stage, std::int64_t chunk)
      : stage_(stage), chunk_(chunk), spec_(spec), size_(std::ssize(program)) {
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Instruction& instruction = program[i];
      if (instruction.op == Op::kAgreeOnUpdate) agree_ = static_cast<std::int64_t>(i);
      if (instruction.chunk != chunk) continue;
      Occurrence& occurrence = occurrences_[{instruction.op, instruction.micro_batch, instruction.bucket}];
      ++occurrence.count;
      occurrence.at = static_cast<std::int64_t>(i);
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
    const auto occurrence = occurrences_.find({op, m, bucket});
    return occurrence == occurrences_.end() ? 0 : occurrence->second.count;
  }
  std::int64_t at(Op op, std::int64_t m, std::int64_t bucket = kAllBuckets) const {
    const auto occurrence = occurrences_.find({op, m, bucket});
    return occurrence == occurrences_.end() ? size_ : occurrence->second.at;
  }
  /// Returns the index of the first part of one micro-batch's backward; end_of() returns that of the last part.
  std::int64_t begin_of(Op backward, std::int64_t m) const {
    const bool in_parts = m == micro_batches() - 1 && backward != Op::kBackwardInput;
    return at(backward, m, in_parts ? num_buckets() - 1 : kAllBuckets);
  }
  std::int64_t end_of(Op backward, std::int64_t m) const {
    const bool in_parts = m == micro_batches() - 1 && backward != Op::kBackwardInput;
    return at(backward, m, in_parts ? 0 : kAllBuckets);
  }

 private:
  struct Occurrence {
    std::int64_t count = 0, at = 0;
  };
  std::int64_t stage_, chunk_;
  const PipelineSpec& spec_;
  std::int64_t size_, agree_ = -1;
  std::map<std::tuple<Op, std::int64_t, std::int64_t>, Occurrence> occurrences_;
};

class TrainingSchedule : public ::testing::TestWithParam<Case> {
 protected:
  static void for_each_pipeline(const std::function<void(const PipelineSpec&, const Schedule&)>& check,
                                bool agree_on_update = false) {
    std::mt19937 engine(7);
    testing::for_each_size(GetParam().chunks, [&](const testing::PipelineSize& size) {
      for (const bool uneven : {false, true}) {
        if (uneven && !GetParam().follows_costs) continue;
        SCOPED_TRACE(uneven ? "uneven costs" : "equal costs");
        PipelineSpec spec = pipeline(size);
        spec.agree_on_update = agree_on_update;
        if (uneven) spec.costs = testing::uneven_costs(spec.virtual_stages(), engine);
        check(spec, make_schedule(GetParam().kind, spec));
        if (HasFailure()) return;
      }
    });
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
      EXPECT_EQ(list.count(Op::kLoad, m), list.first() || list.last());
      EXPECT_EQ(list.count(Op::kRecvActivation, m), !list.first());
      EXPECT_EQ(list.count(Op::kForward, m), 1);
      EXPECT_EQ(list.count(Op::kSendActivation, m), !list.last());
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
        const std::int64_t forward = 3 + (last && !first);  // in, forward, out; the last loads its labels, too
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
      const auto in = list.at(list.first() ? Op::kLoad : Op::kRecvActivation, m);
      const auto forward = list.at(Op::kForward, m);
      const auto out = list.at(list.last() ? Op::kLoss : Op::kSendActivation, m);
      EXPECT_LT(in, forward);
      EXPECT_LT(forward, out);
      EXPECT_LT(out, list.begin_of(backward, m));
      if (list.last()) {
        EXPECT_LE(list.at(Op::kLoad, m), in) << "labels are loaded while the activation is on its way";
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
        std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t>> found;  // chunk, bucket, index
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
        if (reduces.size() > 1) {
          const auto before = k + 1 < reduces.size() ? std::get<2>(reduces[k + 1]) : std::get<2>(updates[k - 1]);
          EXPECT_EQ(fold, before + 1);
        }
        EXPECT_EQ(update, fold + 1);
        EXPECT_EQ(gather, std::ssize(program) - std::ssize(gathers) + static_cast<std::int64_t>(k));
      }
    }
  });
}

// fp16 and clipping need this: no rank may update before the gradients of all ranks are known.
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

TEST_P(TrainingSchedule, ReleasesAChunksFramesInTheOrderInWhichTheyAreTaken) {
  for_each_pipeline([](const PipelineSpec& spec, const Schedule& schedule) {
    for (std::int64_t s = 0; s < spec.stages; ++s) {
      const StageProgram& program = schedule[static_cast<std::size_t>(s)];
      const auto uses = frame_uses(program);
      ASSERT_EQ(std::ssize(uses), spec.micro_batches * spec.chunks);
      std::vector<std::int64_t> next(static_cast<std::size_t>(spec.chunks), 0);
      for (const FrameUse& use : uses) {
        EXPECT_EQ(use.micro_batch, next[static_cast<std::size_t>(use.chunk)]++);
        const std::int64_t bucket = use.micro_batch == spec.micro_batches - 1 ? 0 : kAllBuckets;
        const Instruction release{GetParam().last_backward(), use.micro_batch, bucket, use.chunk};
        EXPECT_EQ(program[use.released_at], release);
      }
    }
  });
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const ScheduleTraits& schedule : kSchedules) {
    for (const std::int64_t chunks :
         schedule.has_chunks ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{1})
      cases.push_back({.name = fmt::format("{}_{}", name_of(schedule.kind), chunks),
                       .kind = schedule.kind,
                       .chunks = chunks,
                       .splits_backward = schedule.splits_backward,
                       .follows_costs = schedule.has_chunks || schedule.splits_backward});
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(All, TrainingSchedule, ::testing::ValuesIn(all_cases()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace convoy
