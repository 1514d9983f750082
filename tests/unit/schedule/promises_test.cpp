/// Tests what every schedule guarantees for a whole step (memory, bubbles, no deadlock), at equal costs and at uneven
/// ones.
#include <algorithm>
#include <random>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/schedule/simulator.h"

#include "unit/schedule/draw.h"

namespace convoy {
namespace {

using testing::equal_costs;
using testing::for_each_size;
using testing::pipeline;
using testing::PipelineSize;
using testing::uneven_costs;

constexpr SimulationOptions kAsExecuted{.zero_buffering = true};

struct Kind {
  ScheduleKind kind;
  std::int64_t chunks = 1;
};
std::vector<Kind> all_kinds() {
  std::vector<Kind> kinds;
  for (const ScheduleTraits& schedule : kSchedules) {
    if (!schedule.has_chunks) kinds.push_back({schedule.kind});
    if (schedule.has_chunks) kinds.insert(kinds.end(), {{schedule.kind, 2}, {schedule.kind, 3}, {schedule.kind, 4}});
  }
  return kinds;
}

TEST(Memory, StaysWithinThePromiseAndReachesIt) {
  std::mt19937 engine(3);
  for (const Kind& tested : all_kinds()) {
    for_each_size(tested.chunks, [&](const PipelineSize& size) {
      PipelineSpec spec = pipeline(size);
      for (const bool uneven : {false, true}) {
        if (uneven) spec.costs = uneven_costs(spec.virtual_stages(), engine);
        const Schedule schedule = make_schedule(tested.kind, spec);
        for (std::int64_t s = 0; s < size.stages; ++s) {
          const StageProgram& program = schedule[static_cast<std::size_t>(s)];
          const std::int64_t max = testing::max_in_flight_of_all(program),
                             promised = traits_of(tested.kind).max_in_flight(spec, s);
          EXPECT_LE(max, promised);
          // A weight gradient may wait but need not. The tests of bubbles check that it waits when that helps.
          if (!uneven && !traits_of(tested.kind).splits_backward) {
            EXPECT_EQ(max, promised) << "stage " << s;
          }
          std::int64_t of_chunks = 0;
          for (std::int64_t c = 0; c < size.chunks; ++c) of_chunks += max_in_flight(program, c);
          EXPECT_GE(of_chunks, max);
        }
      }
    });
  }
}

TEST(Deadlock, NoneInAnyScheduleWithOrWithoutBuffering) {
  std::mt19937 engine(1);
  for (const Kind& tested : all_kinds()) {
    for_each_size(tested.chunks, [&](const PipelineSize& size) {
      PipelineSpec spec = pipeline(size);
      // The order is made for certain costs, or for none, and simulated with others.
      for (const bool uneven : {false, true}) {
        if (uneven) spec.costs = uneven_costs(spec.virtual_stages(), engine);
        spec.agree_on_update = uneven;
        const Schedule schedule = make_schedule(tested.kind, spec);
        const PipelineCosts costs = uneven_costs(spec.virtual_stages(), engine);
        double buffered = 0, unbuffered = 0;
        ASSERT_NO_THROW(buffered = simulate(schedule, costs).step_seconds);
        ASSERT_NO_THROW(unbuffered = simulate(schedule, costs, kAsExecuted).step_seconds);
        // Without buffering every time is a maximum over the same sums and more. With several chunks, though, two
        // channels that share a wire may change their order.
        if (tested.chunks == 1) {
          EXPECT_GE(unbuffered, buffered);
        }
      }
      ASSERT_NO_THROW(simulate(make_evaluation(spec), uneven_costs(spec.virtual_stages(), engine), kAsExecuted));
    });
  }
}

// The times of forward, data gradient and weight gradient. They are whole numbers, as are their thirds: sums are exact.
struct Times {
  double forward, input, weight;
  double sum() const { return forward + input + weight; }
  ChunkCost cost() const {
    return {.forward_seconds = forward, .backward_input_seconds = input, .backward_weight_seconds = weight};
  }
};
constexpr Times kEqual{3, 3, 3};

struct StepSeconds {
  double buffered = 0, as_executed = 0;
};

StepSeconds step_seconds(ScheduleKind kind, const PipelineSize& size, const Times& times) {
  PipelineSpec spec = pipeline(size);
  spec.costs = {.chunks = std::vector<ChunkCost>(static_cast<std::size_t>(spec.virtual_stages()), times.cost())};
  const Schedule schedule = make_schedule(kind, spec);
  return {.buffered = simulate(schedule, spec.costs).step_seconds,
          .as_executed = simulate(schedule, spec.costs, kAsExecuted).step_seconds};
}

TEST(Bubble, OfInterleavedIsTheChunksthPartOf1F1Bs) {
  for (const Times& times : {kEqual, Times{3, 6, 3}, Times{6, 3, 3}, Times{3, 9, 15}}) {
    for (const std::int64_t v : {2, 3, 4}) {
      for_each_size(v, [&](const PipelineSize& size) {
        const auto p = static_cast<double>(size.stages), m = static_cast<double>(size.micro_batches);
        const auto [buffered, as_executed] = step_seconds(ScheduleKind::kInterleaved, size, times);
        const double work = m * times.sum() * static_cast<double>(v);  // `times` are those of one chunk
        const std::int64_t num_groups = std::max<std::int64_t>(1, size.micro_batches / size.stages);
        const std::int64_t largest_group = (size.micro_batches + num_groups - 1) / num_groups;
        const double late = std::max<double>(0, static_cast<double>(largest_group) - p - 2);
        if (size.micro_batches >= size.stages) {
          EXPECT_EQ(buffered - work, (p - 1) * times.sum());
          EXPECT_LE(as_executed - work, (p - 1) * times.sum() + late * (times.input + times.weight));
        } else {  // a round of a chunk takes p passes, of which m are work
          const double rounds = (p - m) * static_cast<double>(v - 1) * times.sum();
          EXPECT_LE(as_executed - work, (p - 1) * times.sum() + rounds);
        }
      });
    }
  }
}

TEST(Bubble, OfZeroBubbleIsForwardAndInputLessWeight) {
  for (const Times& times : {kEqual, Times{3, 6, 3}, Times{9, 6, 3}, Times{30, 30, 27}, Times{9, 9, 6}}) {
    for_each_size(1, [&](const PipelineSize& size) {
      if (size.micro_batches < size.stages) return;
      const auto p = static_cast<double>(size.stages), m = static_cast<double>(size.micro_batches);
      const StepSeconds seconds = step_seconds(ScheduleKind::kZeroBubble, size, times);
      EXPECT_LE(seconds.as_executed - m * times.sum(), (p - 1) * (times.forward + times.input - times.weight));
      EXPECT_LE(seconds.buffered, seconds.as_executed);
    });
  }
}

TEST(Bubble, OfZeroBubbleIsAThirdOf1F1BsAtEqualCosts) {
  for_each_size(1, [](const PipelineSize& size) {
    if (size.micro_batches < size.stages) return;
    const double work = static_cast<double>(size.micro_batches) * kEqual.sum();
    const double zero_bubble = step_seconds(ScheduleKind::kZeroBubble, size, kEqual).as_executed - work;
    const double one_f_one_b = step_seconds(ScheduleKind::k1F1B, size, kEqual).as_executed - work;
    EXPECT_EQ(one_f_one_b, static_cast<double>(size.stages - 1) * kEqual.sum());
    EXPECT_EQ(3 * zero_bubble, one_f_one_b);
  });
}

TEST(Bubble, NoCostsAreEqualCosts) {
  for (const auto& [kind, chunks] : all_kinds()) {
    PipelineSpec spec = pipeline({.stages = 4, .micro_batches = 9, .chunks = chunks});
    const Schedule without = make_schedule(kind, spec);
    spec.costs = equal_costs(without, Times{0.25, 0.25, 0.25}.cost(), chunks);
    EXPECT_EQ(make_schedule(kind, spec), without);
  }
}

// Returns uneven costs from `min` to `max`; transfers take no time.
PipelineCosts costs_between(int min, int max, std::int64_t virtual_stages, std::mt19937& engine) {
  std::uniform_int_distribution<int> seconds(min, max);
  PipelineCosts costs;
  for (std::int64_t x = 0; x < virtual_stages; ++x)
    costs.chunks.push_back(Times{1.0 * seconds(engine), 1.0 * seconds(engine), 1.0 * seconds(engine)}.cost());
  return costs;
}

// Returns slightly uneven costs, as after a good cut.
PipelineCosts nearly_even_costs(std::int64_t virtual_stages, std::mt19937& engine) {
  return costs_between(60, 90, virtual_stages, engine);
}

TEST(UnevenCosts, ZeroBubbleIsNeverSlowerThan1F1B) {
  std::mt19937 engine(11);
  double sum_zero_bubble = 0, sum_1f1b = 0;
  for (int round = 0; round < 9; ++round) {
    for_each_size(1, [&](const PipelineSize& size) {
      PipelineSpec spec = pipeline(size);
      spec.costs = round % 3 == 0   ? nearly_even_costs(size.stages, engine)
                   : round % 3 == 1 ? uneven_costs(size.stages, engine)
                                    : costs_between(100, 2000, size.stages, engine);
      const double zero_bubble = simulate(make_zero_bubble(spec), spec.costs, kAsExecuted).step_seconds;
      const double one_f_one_b = simulate(make_1f1b(spec), spec.costs, kAsExecuted).step_seconds;
      // Thirds for buckets are rounded: m passes have at most 3 additions each, and each addition is within half an
      // epsilon of the sum.
      EXPECT_LE(zero_bubble, one_f_one_b * (1 + 1e-13));
      sum_zero_bubble += zero_bubble;
      sum_1f1b += one_f_one_b;
    });
  }
  EXPECT_LT(sum_zero_bubble, 0.97 * sum_1f1b);  // it must also gain something: 6 % here
}

TEST(UnevenCosts, InterleavedIsNoSlowerThanThePapersOrder) {
  std::mt19937 engine(12);
  for (const std::int64_t v : {2, 3}) {
    for_each_size(v, [&](const PipelineSize& size) {
      PipelineSpec spec = pipeline(size);
      const Schedule papers = make_interleaved(spec);
      spec.costs = nearly_even_costs(spec.virtual_stages(), engine);
      const double seconds = simulate(make_interleaved(spec), spec.costs, kAsExecuted).step_seconds;
      EXPECT_LE(seconds, simulate(papers, spec.costs, kAsExecuted).step_seconds);
      // It is also no slower than if every chunk took as long as the slowest one: the order is the same, and no time in
      // it would be shorter.
      Times slowest{0, 0, 0};
      for (const ChunkCost& cost : spec.costs.chunks)
        slowest = {std::max(slowest.forward, cost.forward_seconds),
                   std::max(slowest.input, cost.backward_input_seconds),
                   std::max(slowest.weight, cost.backward_weight_seconds)};
      spec.costs = equal_costs(papers, slowest.cost(), v);
      EXPECT_LE(seconds, simulate(papers, spec.costs, kAsExecuted).step_seconds);
    });
  }
}

TEST(Size, AThousandMicroBatchesThroughSixtyFourChunks) {
  const PipelineSpec spec = pipeline({.stages = 16, .micro_batches = 1024, .chunks = 4});
  const Schedule schedule = make_interleaved(spec);
  const Simulation simulation =
      simulate(schedule, equal_costs(schedule, kEqual.cost(), 4), {.zero_buffering = true, .keep_spans = false});
  EXPECT_EQ(simulation.step_seconds, (1024 * 4 + 15) * kEqual.sum());
}

}  // namespace
}  // namespace convoy
