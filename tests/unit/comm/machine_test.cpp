/// Machines as Linux describes them, and as it does not.
#include "convoy/comm/machine.h"

#include <vector>

#include <gtest/gtest.h>

#include "unit/comm/fake_machine.h"

namespace convoy {

namespace {

class Machine : public testing::Test {
 protected:
  test::FakeMachine machine_;
};

}  // namespace

TEST(ProcessorList, IsReadAndWrittenAsLinuxDoes) {
  EXPECT_EQ(parse_processors("0-2,7,16-17"), (ProcessorSet{0, 1, 2, 7, 16, 17}));
  EXPECT_EQ(to_string({0, 1, 2, 7, 16, 17}), "0-2,7,16-17");
  EXPECT_EQ(to_string({}), "");
  for (const char* nonsense : {"", "x", "-3", "3-", "5-2", "0-99999999999", ",,"})
    EXPECT_TRUE(parse_processors(nonsense).empty()) << nonsense;
}

TEST_F(Machine, OfTwoSocketsHasTwoDomainsWithTheirProcessorsAndMemory) {
  test::make_xeons(machine_);
  const std::vector<NumaDomain> domains = find_numa_domains(machine_.sys());
  ASSERT_EQ(domains.size(), 2u);
  EXPECT_EQ(domains[1].number, 1);
  EXPECT_EQ(to_string(domains[1].processors), "8-15,24-31");
  EXPECT_EQ(domains[1].memory_bytes, std::int64_t{64} << 30);
  const std::vector<Processor> processors = find_processors({7, 24}, machine_.sys());
  EXPECT_EQ(processors, (std::vector<Processor>{{.number = 7, .domain = 0, .package = 0, .cache = 0, .core = 7},
                                                {.number = 24, .domain = 1, .package = 1, .cache = 8, .core = 0}}));
  EXPECT_EQ(count_domains({0, 16}, domains), 1);
  EXPECT_EQ(count_domains({0, 8}, domains), 2);
}

TEST_F(Machine, OfOneDomainMayHaveManyCaches) {
  test::make_epyc(machine_);
  const std::vector<LastLevelCache> caches = find_last_level_caches(machine_.sys());
  ASSERT_EQ(caches.size(), 8u);
  EXPECT_EQ(caches[7].level, 3);
  EXPECT_EQ(caches[7].size, "32768K");
  EXPECT_EQ(to_string(caches[7].processors), "28-31");
  EXPECT_EQ(find_processors({30}, machine_.sys()).front(),
            (Processor{.number = 30, .domain = 0, .package = 0, .cache = 28, .core = 30}));
}

TEST_F(Machine, ThatTellsNothingIsOneDomain) {
  EXPECT_TRUE(find_numa_domains(machine_.sys()).empty());
  EXPECT_TRUE(find_last_level_caches(machine_.sys()).empty());
  EXPECT_EQ(huge_pages_setting(machine_.sys()), "");
  EXPECT_EQ(find_processors({3, 5}, machine_.sys()),
            (std::vector<Processor>{{.number = 3, .core = 3}, {.number = 5, .core = 5}}));
  EXPECT_EQ(count_domains({3, 5}, {}), 1);
}

TEST_F(Machine, SaysItsSettingOfHugePages) {
  machine_.write("kernel/mm/transparent_hugepage/enabled", "always madvise [never]");
  EXPECT_EQ(huge_pages_setting(machine_.sys()), "never");
}

// Holds on whatever machine this test runs.
TEST(OwnProcessors, AreSomeOfThisMachine) {
  const ProcessorSet mine = own_processors();
  ASSERT_FALSE(mine.empty());
  EXPECT_EQ(find_processors(mine).size(), mine.size());
  EXPECT_GE(count_domains(mine, find_numa_domains()), 1);
}

}  // namespace convoy
