/// Tests the verdict on ranks whose threads are near their memory, and on ranks whose threads are not.
#include <gtest/gtest.h>

#include "preflight/machine_checks.h"

namespace convoy::preflight {

namespace {

Finding judge(const RankPlace& place, std::int64_t ranks, std::int64_t threads) {
  return judge_placement({.place = place, .ranks = ranks, .threads = threads}, "madvise");
}

}  // namespace

TEST(PlacementCheck, IsContentWithinOneDomain) {
  EXPECT_EQ(judge({.num_processors = 8}, 4, 8), ok("4 ranks on a node, each on 8 processors within one NUMA domain"));
  EXPECT_EQ(judge({.num_processors = 1}, 1, 1), ok("1 rank on a node, on 1 processor within one NUMA domain"));
  EXPECT_EQ(judge({.num_processors = 2, .is_own = false}, 4, 1),
            ok("4 ranks on a node, which share 2 processors within one NUMA domain"));
}

TEST(PlacementCheck, WarnsOfThreadsOnSeveralDomainsWithTheRanksThatWouldBeNear) {
  EXPECT_EQ(judge({.num_processors = 64, .num_domains = 2}, 1, 64),
            warning("the rank's 64 threads run on 2 NUMA domains, so that half of its memory is in another domain than "
                    "the thread that uses it: start 2 ranks on the node, each with 32 threads"));
  EXPECT_EQ(judge({.num_processors = 64, .num_domains = 4}, 2, 64),
            warning("the rank's 64 threads run on 4 NUMA domains, so that most of its memory is in another domain than "
                    "the thread that uses it: start 8 ranks on the node, each with 16 threads"));
  EXPECT_EQ(
      judge({.num_processors = 5, .num_domains = 2}, 3, 5),
      warning(
          "the rank's 5 threads run on 2 NUMA domains, so that half of its memory is in another domain than the thread "
          "that uses it: start a number of ranks on the node that is a multiple of the number of its NUMA domains"));
}

TEST(PlacementCheck, WarnsOfThreadsThatTheSystemMayMoveAwayFromTheirMemory) {
  for (const bool is_own : {false, true}) {
    const Finding finding = judge({.num_processors = 64, .num_domains = 2, .is_own = is_own}, 2, 4);
    EXPECT_EQ(finding.outcome, Outcome::kWarning);
    EXPECT_TRUE(finding.text.starts_with("the rank's 4 threads may move between 2 NUMA domains")) << finding.text;
  }
}

TEST(PlacementCheck, SaysWhereHugePagesAreOff) {
  const Finding finding = judge_placement({}, "never");
  EXPECT_EQ(finding.outcome, Outcome::kOk);
  EXPECT_NE(finding.text.find(". Transparent huge pages are off on this host"), std::string::npos) << finding.text;
}

}  // namespace convoy::preflight
