/// Tests mean and planned steps from hand-made ones, the matching of sends and receives, and the causes of waits.
#include "convoy/schedule/timeline.h"

#include <string>

#include <gtest/gtest.h>

#include "convoy/base/error.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::pipeline;

/// Returns a span. Tests use whole numbers of seconds, so that sums and differences are exact.
Span timed(Op op, double begin, double ready, double end, std::int64_t micro_batch = 0) {
  return {.instruction = {.op = op, .micro_batch = micro_batch},
          .begin_seconds = begin,
          .ready_seconds = ready,
          .end_seconds = end};
}

Span of_bucket(Op op, double begin, double ready, double end) {
  return {.instruction = {.op = op, .micro_batch = -1, .bucket = 0},
          .begin_seconds = begin,
          .ready_seconds = ready,
          .end_seconds = end};
}

/// Returns a step of two stages with one micro-batch: stage 1 receives at 10 what stage 0 sends at 7.
Timeline two_stages() {
  return {.num_stages = 2,
          .num_steps = 1,
          .ranks = {{timed(Op::kLoad, 0, 2, 3), timed(Op::kForward, 3, 3, 7), timed(Op::kSendActivation, 7, 7, 8),
                     timed(Op::kRecvGradient, 8, 19, 19), timed(Op::kBackward, 19, 19, 25)},
                    {timed(Op::kRecvActivation, 0, 10, 10), timed(Op::kForward, 10, 10, 13),
                     timed(Op::kBackward, 13, 13, 18), timed(Op::kSendGradient, 18, 18, 19)}}};
}

/// Returns the timeline with every wait set to `seconds`, for use as a plan.
Timeline with_waits(Timeline timeline, double seconds) {
  for (auto& rank : timeline.ranks)
    for (Span& i : rank) i.ready_seconds = i.begin_seconds + (i.wait_seconds() > 0 ? seconds : 0);
  return timeline;
}

std::string shown(const std::vector<IdleSlice>& slices) {
  std::string text;
  for (const IdleSlice& slice : slices)
    text += fmt::format("{}{} {}-{}", text.empty() ? "" : ", ", to_string(slice.cause), slice.begin_seconds,
                        slice.end_seconds);
  return text;
}

TEST(IdleTime, OfAPipelineIsBubbleAsPlannedThenStragglerThenCommunication) {
  const Timeline measured = two_stages();
  const auto idle = divide_idle(measured, with_waits(measured, 4));
  EXPECT_EQ(shown(idle[0]), "data 0-2, bubble 8-12, straggler 12-18, communication 18-19");
  EXPECT_EQ(shown(idle[1]), "bubble 0-4, straggler 4-7, communication 7-10");
}

TEST(IdleTime, OfAPlannedStepHasNeitherStragglersNorMoreBubbleThanItsWaits) {
  const Timeline measured = two_stages();
  const auto idle = divide_idle(measured, with_waits(measured, 100));
  EXPECT_EQ(shown(idle[0]), "data 0-2, bubble 8-18, communication 18-19");
  EXPECT_EQ(shown(idle[1]), "bubble 0-7, communication 7-10");
}

TEST(IdleTime, IsCommunicationWhereTheMessageWasSentBeforeTheWait) {
  Timeline measured = two_stages();
  measured.ranks[1][0] = timed(Op::kRecvActivation, 9, 10, 10);
  EXPECT_EQ(shown(divide_idle(measured, with_waits(measured, 4))[1]), "communication 9-10");
}

TEST(IdleTime, OfAForwardThatWaitsForItsBufferIsCommunication) {
  Timeline measured = two_stages();
  measured.ranks[0][1] = timed(Op::kForward, 3, 5, 7);
  EXPECT_EQ(shown(divide_idle(measured, with_waits(measured, 4))[0]).substr(0, 29), "data 0-2, communication 3-5, ");
}

TEST(IdleTime, OfReplicasIsStragglerUntilTheLastHasComeThenCommunication) {
  // Replica 0 ends its reduce at 3, replica 1 at 9, replica 2 at 6.
  Timeline measured{.num_stages = 1, .num_steps = 1, .ranks = {}};
  for (const double came : {3, 9, 6})
    measured.ranks.push_back({of_bucket(Op::kReduceBucket, 0, 0, came), of_bucket(Op::kFoldBucket, came, 11, 12),
                              of_bucket(Op::kUpdateBucket, 12, 12, 10 + came),
                              of_bucket(Op::kGatherBucket, 10 + came, 20, 21)});
  const auto idle = divide_idle(measured, measured);
  EXPECT_EQ(shown(idle[0]), "straggler 3-9, communication 9-11, straggler 13-19, communication 19-20");
  EXPECT_EQ(shown(idle[1]), "communication 9-11, communication 19-20");
  EXPECT_EQ(shown(idle[2]), "straggler 6-9, communication 9-11, straggler 16-19, communication 19-20");
}

TEST(IdleTime, OfAnAgreementLastsUntilTheLastRankOfAllStagesAndReplicasHasCome) {
  Timeline measured{.num_stages = 2, .num_steps = 1, .ranks = {}};
  for (const double came : {1, 5, 7, 2})
    measured.ranks.push_back({timed(Op::kForward, 0, 0, came), timed(Op::kAgreeOnUpdate, came, 8, 8, -1)});
  const auto idle = divide_idle(measured, with_waits(measured, 3));
  EXPECT_EQ(shown(idle[0]), "bubble 1-4, straggler 4-7, communication 7-8");
  EXPECT_EQ(shown(idle[1]), "bubble 5-7, communication 7-8");
  EXPECT_EQ(shown(idle[2]), "communication 7-8");
}

TEST(IdleTime, SumsToTheWaitsAndWithWorkToAllTime) {
  const Timeline measured = two_stages();
  const auto idle = divide_idle(measured, with_waits(measured, 4));
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::vector<double> sums(measured.ranks[rank].size(), 0.0);
    for (const IdleSlice& slice : idle[rank]) sums[slice.instruction_index] += slice.seconds();
    for (std::size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i], measured.ranks[rank][i].wait_seconds()) << i;
  }
  const TimeShares shares = shares_of(measured, idle);
  // The shares are those of 25 + 19 seconds.
  EXPECT_NEAR(shares.data, 2 / 44.0, 1e-15);
  EXPECT_NEAR(shares.bubble, 8 / 44.0, 1e-15);
  EXPECT_NEAR(shares.straggler, 9 / 44.0, 1e-15);
  EXPECT_NEAR(shares.communication, 4 / 44.0, 1e-15);
  EXPECT_NEAR(shares.busy, 21 / 44.0, 1e-15);
  const std::vector<double> busy = busy_shares(measured);
  ASSERT_EQ(busy.size(), 2u);
  EXPECT_NEAR(busy[0] * 25 + busy[1] * 19, 21, 1e-12);
  EXPECT_NE(busy[0], busy[1]);
}

TEST(Passages, MatchSendsAndReceivesInOrderWithinAReplica) {
  Timeline measured = two_stages();
  const auto other = two_stages().ranks;
  measured.ranks.insert(measured.ranks.end(), other.begin(), other.end());
  const auto passages = find_passages(measured);
  ASSERT_EQ(passages.size(), 4u);
  std::string text;
  for (const Passage& p : passages) text += fmt::format("{}:{}>{}:{} ", p.from_rank, p.send, p.to_rank, p.receive);
  EXPECT_EQ(text, "0:2>1:0 1:3>0:3 2:2>3:0 3:3>2:3 ");
}

TEST(Passages, AreRefusedWhereASendHasNoReceive) {
  Timeline measured = two_stages();
  measured.ranks[1].erase(measured.ranks[1].begin());
  EXPECT_THROW(find_passages(measured), Error);
}

TEST(MeanWork, IsOverMicroBatchesStepsAndReplicasOfAStageWithoutWaits) {
  // Two steps of one stage on two replicas. Forwards take 1, 3; 2, 4; 5, 7; 6, 8 seconds after waits of 10.
  Timeline measured{.num_stages = 1, .num_steps = 2, .ranks = {}};
  for (const double more : {0, 4}) {
    auto& rank = measured.ranks.emplace_back();
    for (const double step : {0, 1})
      for (const double m : {0, 1})
        rank.push_back(timed(Op::kForward, 0, 10, 11 + more + step + 2 * m, static_cast<std::int64_t>(m)));
  }
  const auto work = mean_work(measured);
  EXPECT_EQ(work, (std::vector<WorkSeconds>(2, {4.5, 4.5})));
}

TEST(PlannedStep, IsTheSecondOfTwoInARow) {
  // Three stages with forward 1 and backward 2: each rank's step takes as long as that of the slowest one, M * 3 + 6.
  const PipelineSpec spec = pipeline({3, 4});
  const Schedule schedule = make_1f1b(spec);
  std::vector<WorkSeconds> work;
  for (const StageProgram& program : schedule)
    work.push_back(work_seconds(program, {{.forward_seconds = 1, .backward_seconds = 2}}));
  const Timeline planned = planned_step({schedule}, work);
  ASSERT_EQ(planned.num_ranks(), 3u);
  for (std::size_t s = 0; s < 3; ++s) {
    ASSERT_EQ(planned.ranks[s].size(), schedule[s].size());
    EXPECT_EQ(planned.ranks[s].back().end_seconds - planned.ranks[s].front().begin_seconds, 18) << s;
    for (std::size_t i = 0; i < schedule[s].size(); ++i) {
      const Span& now = planned.ranks[s][i];
      EXPECT_EQ(now.instruction, schedule[s][i]);
      EXPECT_EQ(now.work_seconds(), work[s][i]);
      if (i > 0) {
        EXPECT_EQ(now.begin_seconds, planned.ranks[s][i - 1].end_seconds);
      }
    }
  }
  const TimeShares shares = shares_of(planned, divide_idle(planned, planned));
  EXPECT_NEAR(shares.bubble, 2 / 6.0, 1e-12);  // (p - 1) / (m + p - 1)
  EXPECT_NEAR(shares.busy, 4 / 6.0, 1e-12);
  EXPECT_EQ(shares.straggler + shares.communication + shares.data, 0);
}

TEST(PlannedStep, WaitsInTheAgreementWhereThereIsOne) {
  PipelineSpec spec = pipeline({2, 2});
  spec.agree_on_update = true;
  const Schedule schedule = make_1f1b(spec);
  std::vector<WorkSeconds> work;
  for (const StageProgram& program : schedule)
    work.push_back(work_seconds(program, {{.forward_seconds = 1, .backward_seconds = 2}}));
  const Timeline planned = planned_step({schedule}, work);
  double waited[2] = {0, 0};
  for (std::size_t s = 0; s < 2; ++s)
    for (const Span& i : planned.ranks[s])
      if (i.instruction.op == Op::kAgreeOnUpdate) waited[s] = i.wait_seconds();
  EXPECT_EQ(waited[0], 0);
  EXPECT_EQ(waited[1], 2) << "stage 0 has a backward left";
  EXPECT_EQ(planned.ranks[0].front().begin_seconds, planned.ranks[1].front().begin_seconds);
}

TEST(PlannedStep, CountsMicroBatchesOfEachReplica) {
  std::vector<WorkSeconds> work;
  const std::vector<Schedule> replicas = {make_1f1b(pipeline({1, 3})), make_1f1b(pipeline({1, 2}))};
  for (const Schedule& schedule : replicas)
    work.push_back(work_seconds(schedule.front(), {{.forward_seconds = 1, .backward_seconds = 2}}));
  const Timeline planned = planned_step(replicas, work);
  EXPECT_EQ(planned.ranks[0].back().end_seconds, 9);
  EXPECT_EQ(planned.ranks[1].back().end_seconds, 6);
}

TEST(MedianStep, IsTheOneInTheMiddle) {
  Timeline measured{.num_stages = 1, .num_steps = 3, .ranks = {{}}};
  for (const double length : {5, 9, 7}) measured.ranks[0].push_back(timed(Op::kForward, 100, 100, 100 + length));
  EXPECT_EQ(median_step(measured), 2);
  EXPECT_EQ(step_seconds(measured, 1), 9);
  EXPECT_EQ(step_of(measured, 1).ranks[0].front().end_seconds, 109);
}

}  // namespace
}  // namespace convoy
