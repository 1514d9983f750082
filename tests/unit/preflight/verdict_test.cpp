/// Tests the summaries of the findings of many ranks.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "preflight/report.h"

namespace convoy::preflight {

namespace {

std::vector<std::string> hosts_of_four(int ranks) {
  std::vector<std::string> hosts;
  for (int rank = 0; rank < ranks; ++rank) hosts.push_back("node" + std::to_string(rank / 4));
  return hosts;
}

}  // namespace

TEST(Summary, OfRanksThatFoundTheSameIsThat) {
  const std::vector<Finding> findings(8, ok("2 shards"));
  EXPECT_EQ(summarise(findings, hosts_of_four(8)), ok("2 shards"));
}

TEST(Summary, IsTheWorstFindingWithTheRankAndItsHost) {
  std::vector<Finding> findings(8, ok("2 shards"));
  findings[2] = warning("slow");
  findings[5] = fails("there is no such file");
  EXPECT_EQ(summarise(findings, hosts_of_four(8)), fails("rank 5 on node1: there is no such file"));
}

TEST(Summary, OfAThousandRanksNamesThreeOfThemAndCountsTheOthers) {
  std::vector<Finding> findings(1000, fails("there is no such file"));
  findings[0] = ok("2 shards");
  EXPECT_EQ(summarise(findings, hosts_of_four(1000)),
            fails("999 of 1000 ranks (rank 1 on node0, rank 2 on node0, rank 3 on node0, ...): there is no such file"));
}

TEST(Summary, OfAThousandDifferentFindingsShowsThreeAndCountsTheOthers) {
  std::vector<Finding> findings;
  for (int rank = 0; rank < 1000; ++rank) findings.push_back(fails("reason " + std::to_string(rank)));
  EXPECT_EQ(summarise(findings, hosts_of_four(1000)),
            fails("rank 0 on node0: reason 0; rank 1 on node0: reason 1; rank 2 on node0: reason 2; and 997 other "
                  "findings"));
}

TEST(Agreement, SaysWhatMostRanksHaveAndWhoHasSomethingElse) {
  const std::vector<std::string> hosts = hosts_of_four(5);
  EXPECT_EQ(agree({"a", "a", "a", "a", "a"}, hosts, Outcome::kFails, "Mend it."), ok("a"));
  EXPECT_EQ(agree({"b", "a", "a", "a", "a"}, hosts, Outcome::kFails, "Mend it."),
            fails("a on 4 of 5 ranks, but on rank 0 on node0: b. Mend it."));
}

TEST(Table, HasAVerdictPerLineAndCountsThem) {
  const std::vector<Verdict> verdicts = {{"memory", ok("enough\n")}, {"data.train", fails("line 1\nline 2")}};
  EXPECT_TRUE(any_fails(verdicts));
  EXPECT_EQ(describe(verdicts),
            "ok           memory      enough\n"
            "failed       data.train  line 1 line 2\n"
            "1 ok, 0 warnings, 1 failed, 0 not checked\n");
}

TEST(Table, WithWarningsAloneDoesNotFail) {
  EXPECT_FALSE(any_fails({{"threads", warning("many")}, {"time", not_checked("no Slurm")}}));
}

}  // namespace convoy::preflight
