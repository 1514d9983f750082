/// Compares what convoy watch draws with pictures that are written out.
#include "dashboard/drawing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/messages.h"

namespace convoy {

namespace {

constexpr Style kPlain = {.columns = 80, .unicode = false};

WatchedRun small_run() {
  WatchedRun run{.has_started = true,
                 .version = "0.9.0",
                 .command = "convoy train my.cfg --grid.stages=2",
                 .machine = "1 node, 2 ranks on it; CPU",
                 .stages = 2,
                 .total_steps = 40,
                 .steps_per_epoch = 20,
                 .batch = 64,
                 .start_time = 1000,
                 .step = 10,
                 .learning_rate = 0.1,
                 .measured = "test",
                 .evaluated = {{"test_loss", {{5, 0.9}, {10, 0.8}}},
                               {"test_top1", {{5, 0.5}, {10, 0.75}}},
                               {"test_macro_f1", {{5, 0.5}, {10, 0.25}}}},
                 .last_time = 1020};
  for (int step = 1; step <= 10; ++step) {
    run.losses.push_back(2.0 / step);
    run.accuracies.push_back(0.08 * step);
    run.step_seconds.push_back(0.5);
    run.step_times.push_back(1000 + 2 * step);
  }
  run.ranks[0] = {.host = "node06.cluster",
                  .step_seconds = 0.5,
                  .busy = 0.9,
                  .bubble = 0.05,
                  .straggler = 0.03,
                  .communication = 0.02,
                  .data = 0,
                  .resident_bytes = 100 << 20};
  run.ranks[1] = {.host = "a-very-long-name-of-node07", .stage = 1, .step_seconds = 0.5, .resident_bytes = 1 << 20};
  return run;
}

std::string drawn(const WatchedRun& run, std::optional<bool> is_locked = true, double now = 1021,
                  const Style& style = kPlain) {
  return draw(run, {.directory = "runs/a", .now = now, .is_locked = is_locked}, style);
}

}  // namespace

TEST(Drawing, OfARunThatTrainsIsWrittenOut) {
  EXPECT_EQ(drawn(small_run()),
            "runs/a: is running; last row written 1 s ago\n"
            "convoy train my.cfg --grid.stages=2\n"
            "convoy 0.9.0; 2 stages x 1 replica; 1 node, 2 ranks on it; CPU\n"
            "\n"
            "epoch 1 of 2  step 10 of 40 [======                    ] 25.0 %  1 min 00 s left\n"
            "128.0 samples/s  step 500 ms  learning rate 0.1\n"
            "\n"
            "loss           0.2000  #-,.______\n"
            "top-1         80.00 %  __.,-~+*##\n"
            "test top-1    75.00 %  _#\n"
            "\n"
            "rank host            rep stg step, ms  busy bubble stragg  comm  data    memory\n"
            "   0 node06            0   0      500  90 %    5 %    3 %   2 %   0 % 100.0 MiB\n"
            "   1 ~name-of-node07   0   1      500                                   1.0 MiB\n");
}

TEST(Drawing, DrawsTheMetricThatTheRunFollows) {
  WatchedRun run = small_run();
  run.metric = "macro_f1";
  EXPECT_CONTAINS(drawn(run),
                  "loss              0.2000  #-,.______\n"
                  "top-1            80.00 %  __.,-~+*##\n"
                  "test macro F1     0.2500  #_\n");
  run.metric = "of_a_later_version";
  EXPECT_CONTAINS(drawn(run), "top-1         80.00 %  __.,-~+*##\n\nrank") << "it has no value";
}

TEST(Drawing, OfARunThatPredictsNumbersHasNoTop1) {
  WatchedRun run = small_run();
  run.metric = "rmse";
  run.evaluated = {{"test_loss", {{5, 0.5}, {10, 0.25}}}, {"test_rmse", {{5, 12.5}, {10, 2.25}}}};
  std::ranges::fill(run.accuracies, std::numeric_limits<double>::quiet_NaN());
  EXPECT_CONTAINS(drawn(run),
                  "loss           0.2000  #-,.______\n"
                  "test RMSE        2.25  #_\n"
                  "\nrank");
}

TEST(Drawing, SaysHowARunHasEnded) {
  WatchedRun run = small_run();
  run.ended = "done";
  EXPECT_CONTAINS(drawn(run, false), "runs/a: has ended: done, 1 s ago\n");
  EXPECT_EQ(drawn(run).find("left"), std::string::npos);
}

TEST(Drawing, SaysThatARunWasKilled) {
  EXPECT_CONTAINS(drawn(small_run(), false), "runs/a: is not running any more, and has not written why");
}

TEST(Drawing, SaysThatARunHasWrittenNothingForLong) {
  EXPECT_EQ(drawn(small_run(), true, 1049).find("nothing"), std::string::npos);
  EXPECT_CONTAINS(drawn(small_run(), true, 1080), "runs/a: has written nothing for 1 min 00 s\n");
}

TEST(Drawing, FitsEveryWidth) {
  WatchedRun run = small_run();
  run.warnings.push_back({.time = 0, .text = std::string(300, 'x') + "\nand a second line of " + std::string(99, 'y')});
  run.ranks[0].gpu_utilisation = 98;
  run.ranks[0].gpu_celsius = 65;
  for (const int columns : {40, 80, 132}) {
    std::istringstream lines(drawn(run, true, 1080, {.columns = columns, .unicode = false}));
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), static_cast<std::size_t>(columns)) << line;
  }
}

TEST(Drawing, ALineThatIsCutSaysSo) {
  WatchedRun run = small_run();
  run.command = "convoy train input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/a/name/that/is/long";
  EXPECT_CONTAINS(drawn(run), "\nconvoy train input/fashion_resnet20.cfg --grid.stages=2 --run.directory=runs/...\n");
  EXPECT_CONTAINS(drawn(run, true, 1021, {.columns = 80, .unicode = true}), "--run.directory=runs/a/…\n");
  const std::string low = drawn(run, true, 1021, {.columns = 80, .lines = 8, .unicode = false});
  EXPECT_TRUE(low.ends_with("\n... the picture has more lines than the terminal\n")) << low;
  EXPECT_EQ(std::ranges::count(low, '\n'), 8 - 2) << low;
}

TEST(Drawing, ColoursOnlyWhereThatIsAskedFor) {
  EXPECT_EQ(drawn(small_run()).find('\033'), std::string::npos);
  EXPECT_NE(drawn(small_run(), true, 1021, {.columns = 80, .colour = true}).find('\033'), std::string::npos);
}

TEST(Drawing, OfManyRanksThoseThatComputeLongestAreShown) {
  WatchedRun run = small_run();
  for (int rank = 0; rank < 100; ++rank)
    run.ranks[rank] = {.host = "h", .step_seconds = 1, .busy = rank == 77 ? 0.9 : 0.5};
  const std::string text = drawn(run, true, 1021, {.columns = 80, .lines = 24, .unicode = false});
  EXPECT_CONTAINS(text, "\n  77 h ");
  EXPECT_CONTAINS(text, "more ranks, which are less busy");
  EXPECT_LE(std::ranges::count(text, '\n'), 24);
}

TEST(Drawing, GivesTheLastWarningsAtFullLength) {
  WatchedRun run = small_run();
  run.warnings.push_back({.time = 0,
                          .text = "rank 3 on node07 is slow: its part of a step takes 12 ms, 31 % more than the same "
                                  "stage of other replicas"});
  EXPECT_CONTAINS(drawn(run), "last warnings\n");
  EXPECT_CONTAINS(drawn(run), " rank 3 on node07 is slow: its part of a step takes 12 ms, 31 % more\n");
  EXPECT_CONTAINS(drawn(run), "\nthan the same stage of other replicas\n");
}

TEST(Sparkline, ShowsMeansOfEqualPartsBetweenSmallestAndLargest) {
  const std::vector<double> rising = {0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_EQ(sparkline(rising, 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(rising, 2, true), "▁█");
  EXPECT_EQ(sparkline(rising, 20, false), "_.,-~+*#") << "no wider than there are values";
  EXPECT_EQ(sparkline(std::vector<double>{5, 5}, 8, true), "▅▅");
  EXPECT_EQ(sparkline({}, 8, true), "");
}

}  // namespace convoy
