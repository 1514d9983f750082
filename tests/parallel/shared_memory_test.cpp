/// All ranks of a node read what one rank writes, and no other rank can write it.
#include "convoy/comm/shared_memory.h"

#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "convoy/base/error.h"
#include "convoy/base/host_name.h"
#include "convoy/comm/machine.h"

#include "parallel/mpi_main.h"
#include "parallel/system_limit.h"
#include "unit/messages.h"

namespace convoy {
namespace {

using test::world;

constexpr std::int64_t kSizeBytes = 3 << 20;

// "rw-s": how /proc/self/maps has the mapping that begins there.
std::string access_of(const std::byte* data) {
  std::ifstream maps("/proc/self/maps");
  const auto begin = fmt::format("{:x}-", reinterpret_cast<std::uintptr_t>(data));
  for (std::string line; std::getline(maps, line);)
    if (line.starts_with(begin)) return line.substr(line.find(' ') + 1, 4);
  return "not mapped";
}

std::int64_t domain_of_first_processor() {
  return own_machine().domain_of(own_processors().front());
}

TEST(SharedMemory, HasTheRanksOfADomainInOneGroup) {
  const mpi::Communicator group = split_by_memory(world());
  const std::int64_t mine = domain_of_first_processor();
  EXPECT_EQ(group.max(mine), mine);
  EXPECT_EQ(-group.max(-mine), mine);
  const std::int64_t groups = world().sum(group.rank() == 0 ? 1 : 0);
  EXPECT_GE(groups, 1 + (world().max(mine) > -world().max(-mine) ? 1 : 0));
  EXPECT_LE(groups, 1 + world().max(mine));
}

TEST(SharedMemory, IsWrittenByTheFirstRankAndReadByAll) {
  const SharedMemory memory(world(), kSizeBytes);
  ASSERT_EQ(memory.size_bytes(), kSizeBytes);
  EXPECT_EQ(memory.data()[kSizeBytes - 1], std::byte{0});
  for (int round = 1; round <= 3; ++round) {
    world().barrier();
    if (world().rank() == 0) memory.data()[0] = memory.data()[kSizeBytes - 1] = std::byte(round);
    world().barrier();
    EXPECT_EQ(memory.data()[0], std::byte(round));
    EXPECT_EQ(memory.data()[kSizeBytes - 1], std::byte(round));
  }
}

TEST(SharedMemory, IsReadOnlyForTheOthers) {
  const SharedMemory memory(world(), kSizeBytes);
  EXPECT_EQ(access_of(memory.data()), world().rank() == 0 ? "rw-s" : "r--s");
}

TEST(SharedMemory, EndsWithTheLastRankThatHasIt) {
  const std::byte* data = nullptr;
  {
    const SharedMemory memory(world(), kSizeBytes);
    data = memory.data();
  }
  EXPECT_EQ(access_of(data), "not mapped");
}

// All ranks.
void expect_failure(const std::string& reason) {
  const std::string message = test::message_of<Error>([] { SharedMemory(world(), kSizeBytes); });
  EXPECT_TRUE(message.starts_with(fmt::format("the ranks of {} cannot share 3.0 MiB of memory: ", host_name())))
      << message;
  EXPECT_TRUE(message.ends_with(": " + reason)) << message;
}

TEST(SharedMemory, FailsOnAllRanksWhereTheFirstCannotMakeIt) {
  {
    const test::SystemLimit limit = test::SystemLimit::no_growing_files();
    expect_failure("File too large");
  }
  EXPECT_EQ(SharedMemory(world(), kSizeBytes).size_bytes(), kSizeBytes);
}

TEST(SharedMemory, FailsOnAllRanksWhereTheLastCannotOpenIt) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers themselves open files to check an exception's type";
#endif
  if (world().rank() == world().size() - 1) {
    const test::SystemLimit limit = test::SystemLimit::no_more_files();
    expect_failure("Too many open files");
  } else {
    expect_failure("Too many open files");
  }
  EXPECT_EQ(SharedMemory(world(), kSizeBytes).size_bytes(), kSizeBytes);
}

}  // namespace
}  // namespace convoy
