/// What a timer notes of instructions that work, wait, or do both; and which steps of a run are timed.
#include "step/instruction_timer.h"

#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"

#include "step/step_trace.h"

namespace convoy {
namespace {

void sleep_ms(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

TEST(InstructionTimer, TellsWaitingFromWorkingAndLeavesNoGaps) {
  const auto device = make_cpu_device(1);
  InstructionTimer timer(*device, 3, 2);
  const double start = now_seconds();
  for (int step = 0; step < 2; ++step) {
    timer.begin_step();
    sleep_ms(3);  // works only
    timer.end_instruction();
    sleep_ms(4);  // waits, then works
    timer.ready();
    sleep_ms(2);
    timer.end_instruction();
    sleep_ms(6);  // a loader that says how long it waited
    timer.waited(0.005);
    timer.end_instruction();
  }
  const double end = now_seconds();
  EXPECT_EQ(timer.num_steps(), 2);
  const auto times = timer.read();
  ASSERT_EQ(times.size(), 6u);
  EXPECT_GE(times.front().begin, start);
  EXPECT_LE(times.back().end, end);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_LE(times[i].begin, times[i].ready);
    EXPECT_LE(times[i].ready, times[i].end);
    if (i % 3 > 0) {
      EXPECT_EQ(times[i].begin, times[i - 1].end);
    }
  }
  for (const std::size_t step : {0, 3}) {  // a sleep is at least as long as asked for
    EXPECT_EQ(times[step].ready, times[step].begin);
    EXPECT_GE(times[step].end - times[step].begin, 3e-3);
    EXPECT_GE(times[step + 1].ready - times[step + 1].begin, 4e-3);
    EXPECT_GE(times[step + 1].end - times[step + 1].ready, 2e-3);
    // To the clock's own nanosecond, twice read: the host's begin is read after the mark's.
    EXPECT_NEAR(times[step + 2].ready - times[step + 2].begin, 5e-3, 1e-3);
  }
}

TEST(InstructionTimer, TakesAQuestionForNoWait) {
  const auto device = make_cpu_device(1);
  // A mark directly after the begin; the thread may lose its core between the two, so the least of many counts.
  constexpr int kTimes = 200;
  InstructionTimer timer(*device, 1, kTimes);
  for (int i = 0; i < kTimes; ++i) {
    timer.begin_step();
    timer.ready();
    timer.end_instruction();
  }
  int num_waits = 0;
  for (const InstructionTimes& times : timer.read()) num_waits += times.ready > times.begin ? 1 : 0;
  EXPECT_LT(num_waits, kTimes / 2);
}

TEST(TraceWindow, LeavesOutTheWarmUpAndNeverTakesTheFirstStep) {
  const auto expect = [](std::int64_t wanted, std::int64_t left, std::int64_t first, std::int64_t num) {
    const TraceWindow window = trace_window(wanted, left);
    EXPECT_EQ(window.first, first) << wanted << " of " << left;
    EXPECT_EQ(window.num, num) << wanted << " of " << left;
  };
  expect(2, 100, 3, 2);
  expect(2, 5, 3, 2);
  expect(2, 4, 2, 2);
  expect(2, 3, 1, 2);
  expect(2, 2, 1, 1);
  expect(2, 1, 1, 0);
  expect(50, 20, 1, 19);
  expect(2, 0, 1, 0);
}

}  // namespace
}  // namespace convoy
