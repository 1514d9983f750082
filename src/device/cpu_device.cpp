/// The CPU as a device: aligned host memory, a fixed number of OpenMP threads.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>

#include <fmt/core.h>
#include <omp.h>
#include <sys/mman.h>

#include "convoy/base/clock.h"
#include "convoy/base/error.h"
#include "convoy/base/shape.h"
#include "convoy/base/wording.h"
#include "convoy/device/device.h"

namespace convoy {

namespace {

constexpr std::int64_t kAlignmentBytes = 64;      // a cache line, an AVX-512 vector
constexpr std::int64_t kHugePageBytes = 2 << 20;  // large buffers: fewer TLB misses

std::string vector_extension() {
  if (__builtin_cpu_supports("avx512f")) return "AVX-512";
  if (__builtin_cpu_supports("avx2")) return "AVX2";
  return "SSE";
}

void copy(void* to, const void* from, std::int64_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(size_bytes));
}

/// A copy is made at once: the device's work is done when it has been issued.
class ImmediateLane final : public CopyLane {
 public:
  void mark() override {}
  void start_to_host(void* host, const void* device, std::int64_t size_bytes) override {
    copy(host, device, size_bytes);
  }
  void start_to_device(void* device, const void* host, std::int64_t size_bytes) override {
    copy(device, host, size_bytes);
  }
  bool done() override { return true; }
  void join() override {}
};

/// Issues the work at each run: a CPU has no graphs to capture.
class PlainWork final : public RepeatedWork {
 public:
  void run(const std::function<void()>& issue) override { issue(); }
};

/// Reads the host's clock at each mark: the device's work is done when it has been issued.
class HostStopwatch final : public Stopwatch {
 public:
  explicit HostStopwatch(std::int64_t num_marks) : seconds_(static_cast<std::size_t>(num_marks)) {}

  void mark(std::int64_t number) override { seconds_[static_cast<std::size_t>(number)] = now_seconds(); }
  std::vector<double> read(std::int64_t num_marks) override { return {seconds_.begin(), seconds_.begin() + num_marks}; }

 private:
  std::vector<double> seconds_;
};

class CpuDevice final : public Device {
 public:
  explicit CpuDevice(std::int64_t threads) : threads_(threads) { omp_set_num_threads(static_cast<int>(threads)); }

  std::string description() const override {
    return fmt::format("CPU, {}, {}", vector_extension(), counted(threads_, "thread"));
  }

  bool is_host() const override { return true; }

  void* allocate(std::int64_t size_bytes) override {
    void* data = allocate_host(size_bytes);
    allocated_bytes_ += size_bytes;
    return data;
  }

  void release(void* data, std::int64_t size_bytes) noexcept override {
    allocated_bytes_ -= size_bytes;
    release_host(data, size_bytes);
  }

  void* allocate_host(std::int64_t size_bytes) override {
    const std::int64_t alignment = size_bytes >= kHugePageBytes ? kHugePageBytes : kAlignmentBytes;
    const std::int64_t rounded = round_up(size_bytes, kAlignmentBytes);
    void* data = nullptr;
    if (posix_memalign(&data, static_cast<std::size_t>(alignment), static_cast<std::size_t>(rounded)) != 0)
      fail("cannot allocate {} bytes of memory; use a smaller batch.micro", size_bytes);
    // Advice only. What is left after the last whole huge page takes small pages: it would waste most of a huge one.
    if (alignment == kHugePageBytes)
      madvise(data, static_cast<std::size_t>(rounded / kHugePageBytes * kHugePageBytes), MADV_HUGEPAGE);
    clear(static_cast<std::byte*>(data), rounded);
    return data;
  }

  void release_host(void* data, std::int64_t /*size_bytes*/) noexcept override { std::free(data); }

  void copy_to_device(void* device, const void* host, std::int64_t size_bytes) override {
    copy(device, host, size_bytes);
  }

  void copy_to_host(void* host, const void* device, std::int64_t size_bytes) override {
    copy(host, device, size_bytes);
  }

  std::unique_ptr<CopyLane> make_copy_lane() override { return std::make_unique<ImmediateLane>(); }
  std::unique_ptr<RepeatedWork> make_repeated_work() override { return std::make_unique<PlainWork>(); }
  std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) override {
    return std::make_unique<HostStopwatch>(num_marks);
  }
  void synchronize() override {}
  bool idle() override { return true; }

 private:
  // A page lies in the NUMA domain of the thread that first writes to it. So the threads that will compute on a large
  // buffer clear it, in equal parts: if they are on several domains, so is the memory. Another thread, such as a
  // loader's, would start a second team of OpenMP threads, so it clears the buffer alone.
  void clear(std::byte* data, std::int64_t size_bytes) const {
    const std::int64_t pages = size_bytes / kHugePageBytes;
    if (pages < 2 || threads_ == 1 || std::this_thread::get_id() != computing_thread_) {
      std::memset(data, 0, static_cast<std::size_t>(size_bytes));
      return;
    }
#pragma omp parallel num_threads(static_cast <int>(threads_))
    {
      const std::int64_t index = omp_get_thread_num(), parts = omp_get_num_threads();
      const std::int64_t begin = pages * index / parts * kHugePageBytes;
      const std::int64_t end = index + 1 == parts ? size_bytes : pages * (index + 1) / parts * kHugePageBytes;
      std::memset(data + begin, 0, static_cast<std::size_t>(end - begin));
    }
  }

  std::int64_t threads_;
  std::thread::id computing_thread_ = std::this_thread::get_id();
};

}  // namespace

std::unique_ptr<Device> make_cpu_device(std::int64_t threads) {
  return std::make_unique<CpuDevice>(threads);
}

}  // namespace convoy
