/// Device memory: alignment, zeros, ownership, accounting, copies; and the CPU's copy lanes and repeated work.
#include "convoy/device/device.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

#include "unit/messages.h"

namespace convoy {
namespace {

TEST(CpuDevice, DescribesItselfWithItsThreads) {
  EXPECT_NE(make_cpu_device(1)->description().find("1 thread"), std::string::npos);
  EXPECT_EQ(make_cpu_device(1)->description().find("threads"), std::string::npos);
  EXPECT_NE(make_cpu_device(2)->description().find("2 threads"), std::string::npos);
}

TEST(CpuDevice, IsTheHostAndNeverBusy) {
  const auto device = make_cpu_device(1);
  EXPECT_TRUE(device->is_host());
  EXPECT_TRUE(device->idle());
}

template <typename Memory>
void expect_aligned_and_zeroed(std::int64_t threads) {
  const auto device = make_cpu_device(threads);
  for (const std::int64_t size : {1, 63, 64, 65, 4096, 100'000, (2 << 20) + 5, (9 << 20) + 5}) {
    for (int repeat = 0; repeat < 3; ++repeat) {  // the second allocation gets the memory of the first
      const Memory buffer(*device, size);
      ASSERT_EQ(buffer.size_bytes(), size);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
      const std::byte* end = buffer.data() + size;
      EXPECT_TRUE(std::all_of(static_cast<const std::byte*>(buffer.data()), end,
                              [](std::byte b) { return b == std::byte{0}; }));
      std::memset(buffer.data(), 0xff, static_cast<std::size_t>(size));
    }
  }
}

TEST(Buffer, IsAlignedAndZeroedEvenWhereMemoryWasUsedBefore) {
  for (const std::int64_t threads : {1, 2, 3}) expect_aligned_and_zeroed<Buffer>(threads);
}

TEST(HostBuffer, IsAlignedAndZeroedEvenWhereMemoryWasUsedBefore) {
  for (const std::int64_t threads : {1, 2, 3}) expect_aligned_and_zeroed<HostBuffer>(threads);
}

std::int64_t count_threads() {
  std::ifstream status("/proc/self/status");
  std::int64_t count = 0;
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) count = std::stoll(line.substr(line.find_first_of("0123456789")));
  return count;
}

TEST(HostBuffer, OfAThreadThatDoesNotComputeIsClearedByItAlone) {
  const auto device = make_cpu_device(3);
  const Buffer first(*device, 8 << 20);  // starts the team of OpenMP threads
  const std::int64_t before = count_threads();
  std::thread([&] {
    const HostBuffer memory(*device, 8 << 20);
    EXPECT_EQ(count_threads(), before + 1) << "no second team";
    EXPECT_TRUE(std::ranges::all_of(memory.as<std::uint64_t>(), [](std::uint64_t word) { return word == 0; }));
  }).join();
}

TEST(HostBuffer, IsNoMemoryOfTheDevice) {
  const auto device = make_cpu_device(1);
  const HostBuffer buffer(*device, 1000);
  EXPECT_EQ(device->allocated_bytes(), 0);
  EXPECT_EQ(HostBuffer(*device, 0).data(), nullptr);
}

TEST(HostBuffer, MovesItsMemory) {
  const auto device = make_cpu_device(1);
  HostBuffer first(*device, 100);
  std::byte* data = first.data();
  HostBuffer second(std::move(first));
  EXPECT_EQ(second.data(), data);
  EXPECT_EQ(second.size_bytes(), 100);
  HostBuffer third(*device, 7);
  third = std::move(second);  // a double release would end the program
  EXPECT_EQ(third.data(), data);
  EXPECT_EQ(third.size_bytes(), 100);
}

TEST(Buffer, OfNoBytesHoldsNothing) {
  const auto device = make_cpu_device(1);
  EXPECT_EQ(Buffer(*device, 0).data(), nullptr);
  EXPECT_EQ(Buffer().data(), nullptr);
  EXPECT_EQ(device->allocated_bytes(), 0);
}

TEST(Buffer, IsCountedWhileItLives) {
  const auto device = make_cpu_device(1);
  {
    const Buffer first(*device, 1000);
    const Buffer second(*device, 24);
    EXPECT_EQ(device->allocated_bytes(), 1024);
  }
  EXPECT_EQ(device->allocated_bytes(), 0);
}

TEST(Buffer, MovesItsMemoryAndReleasesItOnce) {
  const auto device = make_cpu_device(1);
  {
    Buffer first(*device, 100);
    std::byte* data = first.data();
    Buffer second(std::move(first));
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.size_bytes(), 100);
    EXPECT_EQ(device->allocated_bytes(), 100);
    Buffer third(*device, 7);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    third = Buffer(*device, 50);                   // the old memory goes with the temporary
    EXPECT_EQ(device->allocated_bytes(), 50 + 7);  // 7: kept by `second` until it dies
  }
  EXPECT_EQ(device->allocated_bytes(), 0);
}

TEST(CpuDevice, CopiesThereAndBack) {
  const auto device = make_cpu_device(1);
  std::vector<float> there(1001), back(1001);
  std::iota(there.begin(), there.end(), 1.0f);
  const Buffer buffer(*device, 1001 * 4);
  device->copy_to_device(buffer.data(), there.data(), buffer.size_bytes());
  device->synchronize();
  EXPECT_EQ(buffer.floats()[1000], 1001.0f);
  device->copy_to_host(back.data(), buffer.data(), buffer.size_bytes());
  EXPECT_EQ(there, back);
}

TEST(CpuCopyLane, HasCopiedWhenStarted) {
  const auto device = make_cpu_device(1);
  const auto lane = device->make_copy_lane();
  EXPECT_TRUE(lane->done()) << "nothing was started";
  const HostBuffer there(*device, 8), back(*device, 8);
  const Buffer buffer(*device, 8);
  std::memcpy(there.data(), "forward", 8);
  lane->mark();
  lane->start_to_device(buffer.data(), there.data(), 8);
  EXPECT_TRUE(lane->done());
  lane->join();
  lane->mark();
  lane->start_to_host(back.data(), buffer.data(), 8);
  EXPECT_TRUE(lane->done());
  EXPECT_STREQ(reinterpret_cast<const char*>(back.data()), "forward");
}

TEST(CpuStopwatch, MarksTheHostsTime) {
  const auto stopwatch = make_cpu_device(1)->make_stopwatch(3);
  const double before = now_seconds();
  for (std::int64_t i = 0; i < 2; ++i) stopwatch->mark(i);
  const double after = now_seconds();
  const std::vector<double> marks = stopwatch->read(2);
  ASSERT_EQ(marks.size(), 2u);
  EXPECT_LE(before, marks[0]);
  EXPECT_LE(marks[0], marks[1]);
  EXPECT_LE(marks[1], after);
}

TEST(CpuRepeatedWork, IssuesItsWorkAtEveryRun) {
  const auto work = make_cpu_device(1)->make_repeated_work();
  int issued = 0;
  for (int run = 1; run <= 3; ++run) {
    work->run([&] { ++issued; });
    EXPECT_EQ(issued, run);
  }
}

TEST(CpuDevice, SaysWhatToDoWhenMemoryDoesNotSuffice) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends the program at such a request";
#endif
  const auto device = make_cpu_device(1);
  EXPECT_CONTAINS(test::message_of<Error>([&] { Buffer(*device, std::int64_t{1} << 60); }), "batch.micro");
  EXPECT_EQ(device->allocated_bytes(), 0);
}

}  // namespace
}  // namespace convoy
