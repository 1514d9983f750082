/// A job is told which hosts to leave out.
#include "run/run_audits.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace convoy {
namespace {

/// Two stages; ranks 0 and 1 on node1, 2 and 3 on node2.
Audit::Result result_of(std::vector<AuditFinding> findings) {
  return {.findings = std::move(findings), .places = {"node1, GPU-a", "node1, GPU-b", "node2, GPU-c", "node2, GPU-d"}};
}

AuditFinding finding(std::int64_t replica, std::int64_t stage, bool is_certain) {
  return {.replica = replica, .stage = stage, .is_certain = is_certain, .item = {}};
}

TEST(Exclusion, IsOfTheHostsThatAreCertainlyWrong) {
  EXPECT_EQ(describe_exclusion(result_of({finding(1, 0, true)}), 2), "--exclude=node2");
  EXPECT_EQ(describe_exclusion(result_of({finding(1, 0, true), finding(1, 1, true)}), 2), "--exclude=node2");
  EXPECT_EQ(describe_exclusion(result_of({finding(0, 1, true), finding(1, 1, false)}), 2), "--exclude=node1");
}

TEST(Exclusion, IsNotGivenInDoubtNorWhereNoHostWouldBeLeft) {
  EXPECT_EQ(describe_exclusion(result_of({}), 2), "");
  EXPECT_EQ(describe_exclusion(result_of({finding(0, 0, false), finding(1, 0, false)}), 2), "");
  EXPECT_EQ(describe_exclusion(result_of({finding(0, 0, true), finding(1, 1, true)}), 2), "");
}

}  // namespace
}  // namespace convoy
