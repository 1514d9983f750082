/// Tests the processor that /proc/cpuinfo names, the verdict on threads and cores, and the verdict on clocks.
#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preflight/machine_checks.h"

namespace convoy::preflight {

TEST(Processor, IsNamedWithTheInstructionsThatMatter) {
  EXPECT_EQ(processor_kind("processor\t: 0\nmodel name\t: AMD EPYC 9454\nflags\t\t: fpu avx avx2 avx512f avx512_bf16\n"
                           "processor\t: 1\nmodel name\t: another\n"),
            "AMD EPYC 9454: avx2 avx512f avx512_bf16");
  EXPECT_EQ(processor_kind("processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"),
            "processor of implementer 0x41, part 0xd40: sve");
}

TEST(Threads, MoreThanTheCoresOfANodeAreAWarning) {
  EXPECT_EQ(judge_threads({.ranks = 4, .ranks_at_once = 4}, 2),
            ok("4 ranks with 2 threads each on a node, and a core for every thread"));
  const Finding finding = judge_threads({.ranks = 4, .ranks_at_once = 1.5}, 2);
  EXPECT_EQ(finding.outcome, Outcome::kWarning);
  EXPECT_TRUE(
      finding.text.starts_with("4 ranks with 2 threads each on a node, but there are cores for only 1.5 of the ranks"))
      << finding.text;
}

TEST(Clocks, ThatDifferByMoreThanASecondAreAWarningThatNamesTheHost) {
  constexpr ClockOffset kNotAsked{.error_seconds = std::numeric_limits<double>::infinity()};
  const std::vector<std::string> hosts = {"n1", "n1", "n2"};
  EXPECT_EQ(judge_clocks({{}, kNotAsked, kNotAsked}, hosts), ok("one host, one clock"));
  EXPECT_EQ(judge_clocks({{}, kNotAsked, {.offset_seconds = 0.003, .error_seconds = 0.001}}, hosts),
            ok("2 hosts; the clock of n2 differs most from that of n1: 0.002 s"));
  EXPECT_EQ(judge_clocks({{}, kNotAsked, {.offset_seconds = 0.001, .error_seconds = 0.002}}, hosts),
            ok("2 hosts; no difference between their clocks can be measured"));
  const Finding finding = judge_clocks({{}, kNotAsked, {.offset_seconds = -2, .error_seconds = 0.5}}, hosts);
  EXPECT_EQ(finding.outcome, Outcome::kWarning);
  EXPECT_TRUE(finding.text.starts_with("2 hosts; the clock of n2 differs most from that of n1: 1.500 s"))
      << finding.text;
}

TEST(Clocks, ThatMayStillBeOneBecauseTheirOffsetIsNotKnownWellAreNot) {
  EXPECT_EQ(judge_clocks({{}, {.offset_seconds = 2, .error_seconds = 1.5}}, {"n1", "n2"}).outcome, Outcome::kOk);
}

}  // namespace convoy::preflight
