/// Rank 0's clock seen from all ranks: the true one, and made-up ones whose offset and drift are known.
#include "convoy/comm/root_clock.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "parallel/mpi_main.h"

namespace convoy::test {

namespace {

// Seconds since the machine was started have about 2^-30 of a second left of a double's 53 bits after a month; and the
// sum of a few of them.
constexpr double kRounding = 1e-8;

TEST(RootClock, OnOneNodeAllClocksAreOne) {
  for (int i = 0; i < 3; ++i) {
    const ClockReading before = read_root_clock(world()), after = read_root_clock(world());
    EXPECT_LE(std::abs(before.offset_seconds), before.error_seconds + kRounding);
    EXPECT_LT(before.error_seconds, 0.1) << "half the shortest of 64 round trips";
    const RootClock clock(before, after);
    EXPECT_EQ(clock.at(before.at_seconds + 1), before.at_seconds + 1);
    EXPECT_EQ(clock.error_seconds(), std::max(before.error_seconds, after.error_seconds));
  }
}

TEST(RootClock, FindsOffsetAndDriftWithinItsBound) {
  // Rank r was started 1000 r seconds later, and gains 10 r ms per second.
  const double start = now_seconds(), offset = 1000.0 * world().rank(), rate = 1 + 0.01 * world().rank();
  const Clock own = [&] { return (now_seconds() - start) * rate - offset; };
  const auto true_seconds = [&](double own_seconds) { return (own_seconds + offset) / rate + start; };
  // Rank 0's clock begins at its own start.
  double roots_start = start;
  world().broadcast(&roots_start, sizeof roots_start, 0);

  const ClockReading before = read_root_clock(world(), own);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const ClockReading after = read_root_clock(world(), own);
  const RootClock clock(before, after);
  for (const double part : {0.0, 0.3, 1.0}) {
    const double at = before.at_seconds + part * (after.at_seconds - before.at_seconds);
    EXPECT_NEAR(clock.at(at), true_seconds(at) - roots_start, clock.error_seconds() + kRounding) << part;
  }
  if (world().rank() == 0) {
    EXPECT_EQ(clock.error_seconds(), 0);
  }
}

}  // namespace

}  // namespace convoy::test
