/// A GPU's memory, copy lanes and graphs. Skipped if no GPU is present.
#include "device/cuda/cuda_device.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"

#include "device/cuda/check.h"
#include "unit/messages.h"

namespace convoy {
namespace {

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string reason = cuda::why_no_gpu();
    if (!reason.empty()) GTEST_SKIP() << "no GPU: " << reason;
    device_.emplace(cuda::CudaDeviceSpec{.local_rank = 0, .libraries = "no libraries"});
  }

  cuda::CudaDevice& device() { return *device_; }

  /// Issues the copy to = from inside the device's memory.
  void issue_copy(const Buffer& to, const Buffer& from) {
    CONVOY_CHECK_CUDA(cudaMemcpyAsync(to.data(), from.data(), static_cast<std::size_t>(from.size_bytes()),
                                      cudaMemcpyDeviceToDevice, device().stream()));
  }

  void fill(const Buffer& buffer, std::int32_t value) {
    const std::vector<std::int32_t> values(kCount, value);
    device().copy_to_device(buffer.data(), values.data(), kBytes);
  }

  std::vector<std::int32_t> values_of(const Buffer& buffer) {
    std::vector<std::int32_t> values(kCount);
    device().copy_to_host(values.data(), buffer.data(), kBytes);
    return values;
  }

  static void wait_for(CopyLane& lane) {
    while (!lane.done()) {
    }
  }

  static constexpr std::int64_t kCount = 1 << 22;  // 16 MiB: the copy is still running when the next call is made
  static constexpr std::int64_t kBytes = kCount * 4;

 private:
  std::optional<cuda::CudaDevice> device_;
};

TEST_F(CudaDeviceTest, DescribesItself) {
  EXPECT_FALSE(device().is_host());
  EXPECT_NE(device().description().find("CUDA"), std::string::npos);
  EXPECT_NE(device().description().find("no libraries"), std::string::npos);
}

TEST_F(CudaDeviceTest, IsTheSameHardwareForRanksThatShareIt) {
  int count = 0;
  CONVOY_CHECK_CUDA(cudaGetDeviceCount(&count));
  const cuda::CudaDevice same({.local_rank = count});
  EXPECT_EQ(same.hardware_id(), device().hardware_id());
}

TEST_F(CudaDeviceTest, GivesZeroedAlignedMemoryAndCountsIt) {
  for (int repeat = 0; repeat < 2; ++repeat) {  // the second allocation gets the memory of the first
    const Buffer buffer(device(), kBytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    EXPECT_EQ(device().allocated_bytes(), kBytes);
    EXPECT_EQ(values_of(buffer), std::vector<std::int32_t>(kCount, 0));
    fill(buffer, -1);
  }
  EXPECT_EQ(device().allocated_bytes(), 0);
}

TEST_F(CudaDeviceTest, SaysWhatToDoWhenMemoryDoesNotSuffice) {
  const std::string message = test::message_of<Error>([&] { Buffer(device(), std::int64_t{1} << 50); });
  for (const char* part : {"1.0 PiB", "free", "batch.micro"}) EXPECT_CONTAINS(message, part);
  EXPECT_EQ(device().allocated_bytes(), 0);
  const Buffer after(device(), kBytes);  // the failure is not reported again
}

TEST_F(CudaDeviceTest, ReadsAndWritesHostMemoryUnderTheHostsAddress) {
  const HostBuffer host(device(), 64);
  const Buffer buffer(device(), 64);
  std::memset(host.data(), 7, 64);
  CONVOY_CHECK_CUDA(cudaMemcpyAsync(buffer.data(), host.data(), 64, cudaMemcpyDefault, device().stream()));
  CONVOY_CHECK_CUDA(cudaMemsetAsync(host.data(), 9, 32, device().stream()));
  CONVOY_CHECK_CUDA(cudaMemcpyAsync(host.data() + 32, buffer.data(), 16, cudaMemcpyDefault, device().stream()));
  device().synchronize();
  EXPECT_EQ(host.data()[0], std::byte{9});
  EXPECT_EQ(host.data()[32], std::byte{7});
}

TEST_F(CudaDeviceTest, IsIdleOnceItsWorkIsDone) {
  std::atomic<bool> go = false;
  const auto wait = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  CONVOY_CHECK_CUDA(cudaLaunchHostFunc(device().stream(), wait, &go));
  EXPECT_FALSE(device().idle());
  go = true;
  device().synchronize();
  EXPECT_TRUE(device().idle());
}

TEST_F(CudaDeviceTest, LaneCopiesWhatWasComputedBeforeTheMark) {
  const Buffer from(device(), kBytes), to(device(), kBytes);
  const HostBuffer host(device(), kBytes);
  const auto lane = device().make_copy_lane();
  EXPECT_TRUE(lane->done()) << "nothing was started";
  for (std::int32_t value = 1; value <= 3; ++value) {
    fill(from, value);
    for (int i = 0; i < 20; ++i) issue_copy(to, from);
    lane->mark();
    lane->start_to_host(host.data(), to.data(), kBytes);
    wait_for(*lane);
    const auto* values = reinterpret_cast<const std::int32_t*>(host.data());
    EXPECT_EQ(std::count(values, values + kCount, value), kCount);
  }
}

TEST_F(CudaDeviceTest, WorkAfterTheJoinSeesWhatTheLaneBrought) {
  const Buffer source(device(), kBytes), to(device(), kBytes);
  const HostBuffer host(device(), kBytes);
  const auto lane = device().make_copy_lane();
  auto* values = reinterpret_cast<std::int32_t*>(host.data());
  for (std::int32_t value = 1; value <= 3; ++value) {
    std::fill(values, values + kCount, value);
    lane->mark();
    lane->start_to_device(source.data(), host.data(), kBytes);
    lane->join();
    issue_copy(to, source);
    EXPECT_EQ(values_of(to), std::vector<std::int32_t>(kCount, value));
    EXPECT_TRUE(lane->done());
  }
}

TEST_F(CudaDeviceTest, StopwatchMarksWhenWorkIsDoneAndNotWhenItIsIssued) {
  std::atomic<bool> go = false;
  const auto wait = [](void* flag) {
    while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
  };
  const auto stopwatch = device().make_stopwatch(2);
  const double before = now_seconds();
  stopwatch->mark(0);
  CONVOY_CHECK_CUDA(cudaLaunchHostFunc(device().stream(), wait, &go));
  stopwatch->mark(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const double released = now_seconds();
  go = true;
  const std::vector<double> marks = stopwatch->read(2);
  const double after = now_seconds();
  // Half a round trip between host and GPU, and half a microsecond of an event.
  constexpr double kTolerance = 1e-3;
  EXPECT_GT(marks[0], before - kTolerance);
  EXPECT_GT(marks[1], released - kTolerance);
  EXPECT_LT(marks[1], after + kTolerance);
}

TEST_F(CudaDeviceTest, RepeatedWorkIsIssuedTwiceAndThenReplayed) {
  const Buffer first(device(), kBytes), second(device(), kBytes), third(device(), kBytes);
  const auto work = device().make_repeated_work();
  int issued = 0;
  for (std::int32_t value = 1; value <= 4; ++value) {
    fill(first, value);
    work->run([&] {
      ++issued;
      issue_copy(second, first);
      issue_copy(third, second);
    });
    EXPECT_EQ(values_of(third), std::vector<std::int32_t>(kCount, value));
  }
  EXPECT_EQ(issued, 2);
}

TEST_F(CudaDeviceTest, RepeatedWorkThatFailsLeavesTheDeviceUsable) {
  const Buffer first(device(), kBytes), second(device(), kBytes);
  const auto work = device().make_repeated_work();
  work->run([&] { issue_copy(second, first); });
  EXPECT_THROW(work->run([&] {
    issue_copy(second, first);
    throw std::runtime_error("while it was captured");
  }),
               std::runtime_error);
  fill(first, 5);
  work->run([&] { issue_copy(second, first); });
  EXPECT_EQ(values_of(second), std::vector<std::int32_t>(kCount, 5));
}

}  // namespace
}  // namespace convoy
