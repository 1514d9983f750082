/// Machines whose parts are known, and one whose parts are not.
#include "convoy/comm/machine.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/comm/described_machines.h"
#include "unit/io/temporary_directory.h"

namespace convoy {

TEST(ProcessorList, IsWrittenAsLinuxDoes) {
  EXPECT_EQ(to_string({0, 1, 2, 7, 16, 17}), "0-2,7,16-17");
  EXPECT_EQ(to_string({}), "");
}

TEST(Machine, OfTwoSocketsHasTwoDomainsWithTheirProcessorsAndMemory) {
  const Machine machine(test::kXeons);
  const std::vector<NumaDomain> domains = machine.domains();
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_EQ(domains[1].number, 1);
  EXPECT_EQ(to_string(domains[1].processors), "8-15,24-31");
  EXPECT_EQ(domains[1].memory_bytes, std::int64_t{64} << 30);
  EXPECT_EQ(machine.domain_of(23), 0);
  EXPECT_EQ(machine.domain_of(24), 1);
  EXPECT_EQ(machine.count_domains({0, 16}), 1);
  EXPECT_EQ(machine.count_domains({0, 8}), 2);
  ASSERT_EQ(machine.last_level_caches().size(), 2u);
  EXPECT_EQ(to_string(machine.last_level_caches()[1].processors), "8-15,24-31");
}

TEST(Machine, OfOneDomainMayHaveManyCaches) {
  const Machine machine(test::kEpyc);
  EXPECT_EQ(machine.count_domains({0, 31}), 1);
  const std::vector<LastLevelCache> caches = machine.last_level_caches();
  ASSERT_EQ(caches.size(), 8u);
  EXPECT_EQ(caches[7].level, 3);
  EXPECT_EQ(caches[7].size_bytes, 32 << 20);
  EXPECT_EQ(to_string(caches[7].processors), "28-31");
}

// High-bandwidth memory, say: a second domain that has no processors of its own.
TEST(Machine, CountsTheFirstOfTwoDomainsOfTheSameProcessors) {
  const Machine machine("package:2 [numa] [numa] core:4 pu:1");
  const std::vector<NumaDomain> domains = machine.domains();
  ASSERT_EQ(domains.size(), 4u);
  EXPECT_EQ(to_string(domains[0].processors), "0-3");
  EXPECT_TRUE(domains[1].processors.empty());
  EXPECT_EQ(machine.count_domains({0, 1, 2, 3}), 1);
  EXPECT_EQ(machine.count_domains({3, 4}), 2);
}

TEST(Machine, ThatIsNotKnownIsOneDomain) {
  const Machine machine(test::kUnknown);
  EXPECT_EQ(machine.root(), nullptr);
  EXPECT_TRUE(machine.domains().empty());
  EXPECT_TRUE(machine.last_level_caches().empty());
  EXPECT_EQ(machine.domain_of(3), 0);
  EXPECT_EQ(machine.count_domains({3, 5}), 1);
}

TEST(Machine, WhoseSystemTellsNothingIsOneDomain) {
  const test::TemporaryDirectory without_sys;
  setenv("HWLOC_FSROOT", without_sys.path().c_str(), 1);
  const Machine machine;
  unsetenv("HWLOC_FSROOT");
  EXPECT_TRUE(machine.domains().empty());
  EXPECT_TRUE(machine.last_level_caches().empty());
  EXPECT_EQ(machine.count_domains(own_processors()), 1);
}

TEST(Machine, HasOneDomainForProcessorsThatItDoesNotHave) {
  EXPECT_EQ(Machine(test::kXeons).count_domains({100, 101}), 1);
}

TEST(HugePages, AreTheChoiceInBrackets) {
  const test::TemporaryDirectory sys;
  EXPECT_EQ(huge_pages_setting(sys.path()), "");
  const std::string text = "always madvise [never]\n";
  test::write_bytes(sys / "kernel/mm/transparent_hugepage/enabled", std::as_bytes(std::span(text)));
  EXPECT_EQ(huge_pages_setting(sys.path()), "never");
}

// Holds on whatever machine this test runs.
TEST(OwnMachine, HasTheProcessorsOfThisProcessInItsDomains) {
  const ProcessorSet mine = own_processors();
  ASSERT_FALSE(mine.empty());
  std::vector<std::int64_t> of_domains;
  for (const NumaDomain& domain : own_machine().domains())
    of_domains.insert(of_domains.end(), domain.processors.begin(), domain.processors.end());
  std::sort(of_domains.begin(), of_domains.end());
  EXPECT_TRUE(std::includes(of_domains.begin(), of_domains.end(), mine.begin(), mine.end())) << to_string(of_domains);
}

}  // namespace convoy
