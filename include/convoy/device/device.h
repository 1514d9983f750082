/// Defines the device (CPU or GPU) on which a rank computes, and its memory. ops::Backend creates operations on it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace convoy {

/// Device work that is repeated with the same arguments on the same memory. A GPU executes it directly at the first
/// run, captures it as a CUDA graph at the second, and then replays the graph; a CPU executes it at each run.
class RepeatedWork {
 public:
  virtual ~RepeatedWork() = default;
  /// Runs the work. `issue` must issue the same work at every call, to this device only. It is not called when a
  /// captured graph is replayed.
  virtual void run(const std::function<void()>& issue) = 0;
};

/// Copies between host and device memory that run while the device computes, one at a time, as on a CUDA stream for
/// copies. A lane is made once and used repeatedly.
class CopyLane {
 public:
  virtual ~CopyLane() = default;
  /// Makes the next copy wait for the device work issued before this call, and for no later work.
  virtual void mark() = 0;
  /// Starts a copy from the device. `host` must be in a HostBuffer, and the lane's previous copy must be done().
  virtual void start_to_host(void* host, const void* device, std::int64_t size_bytes) = 0;
  /// Starts a copy to the device. `host` must be in a HostBuffer, and the lane's previous copy must be done().
  virtual void start_to_device(void* device, const void* host, std::int64_t size_bytes) = 0;
  /// Whether the last copy has ended, or none was started. Does not wait.
  virtual bool done() = 0;
  /// Makes device work that is issued after this call wait for the last copy.
  virtual void join() = 0;
};

/// Measures at which times a device did its work. It is made once, with room for a fixed number of marks.
class Stopwatch {
 public:
  virtual ~Stopwatch() = default;
  /// Sets mark `number` to the time at which the device finishes the work issued so far. Neither waits nor allocates.
  /// Marks are set in the order of their numbers, from 0.
  virtual void mark(std::int64_t number) = 0;
  /// Returns the times of the first `num_marks` marks, in seconds of now_seconds(). All of them must have been set.
  /// Waits for the device.
  virtual std::vector<double> read(std::int64_t num_marks) = 0;
};

/// The device of one rank. Work is issued in order, as on one CUDA stream, and may run later; synchronize() waits for
/// it.
class Device {
 public:
  virtual ~Device() = default;

  /// Description of the device for messages: "CPU, AVX-512, 2 threads".
  virtual std::string description() const = 0;
  /// Whether device memory is host memory, which MPI and the host may read and write once the work on it is done.
  virtual bool is_host() const = 0;
  /// Size of the device's own memory in bytes; 0 if device memory is host memory.
  virtual std::int64_t memory_bytes() const { return 0; }
  /// Unique identifier of the hardware, "GPU-5e1fd8a0-...", the same for all ranks that share the device. Empty if
  /// device memory is host memory.
  virtual std::string hardware_id() const { return {}; }

  // Buffer and HostBuffer call these to allocate and release memory.
  virtual void* allocate(std::int64_t size_bytes) = 0;
  virtual void release(void* data, std::int64_t size_bytes) noexcept = 0;
  virtual void* allocate_host(std::int64_t size_bytes) = 0;
  virtual void release_host(void* data, std::int64_t size_bytes) noexcept = 0;

  // Copies between any host memory and device memory, after the work issued so far; they are complete when they return.
  // For setup and checkpoints: a step uses copy lanes.
  virtual void copy_to_device(void* device, const void* host, std::int64_t size_bytes) = 0;
  virtual void copy_to_host(void* host, const void* device, std::int64_t size_bytes) = 0;

  virtual std::unique_ptr<CopyLane> make_copy_lane() = 0;
  virtual std::unique_ptr<RepeatedWork> make_repeated_work() = 0;
  virtual std::unique_ptr<Stopwatch> make_stopwatch(std::int64_t num_marks) = 0;
  virtual void synchronize() = 0;
  /// Whether all work issued so far is done. Does not wait.
  virtual bool idle() = 0;
  /// Number of bytes of device memory that Buffers hold now.
  std::int64_t allocated_bytes() const { return allocated_bytes_; }

 protected:
  /// Number of bytes that Buffers hold; atomic, as any thread may allocate.
  std::atomic<std::int64_t> allocated_bytes_ = 0;
};

/// Owns memory of a device, or of the host for a device: 64-byte aligned, zeroed, released on destruction. Move
/// assignment swaps the memory of the two objects. part_of() makes an object that does not own its memory, for
/// SharedMemory (convoy/comm/shared_memory.h).
template <auto kAllocate, auto kRelease>
class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(Device& device, std::int64_t size_bytes) {
    if (size_bytes > 0)
      data_ = {static_cast<std::byte*>((device.*kAllocate)(size_bytes)), Release{&device, size_bytes}};
  }
  /// Makes an object that does not release its memory: `data` must exist as long as the object and all objects that it
  /// is moved to.
  static DeviceMemory part_of(std::byte* data, std::int64_t size_bytes) {
    DeviceMemory part;
    if (size_bytes > 0) part.data_ = {data, Release{nullptr, size_bytes}};
    return part;
  }
  DeviceMemory(DeviceMemory&& other) noexcept = default;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    data_.swap(other.data_);
    return *this;
  }

  std::byte* data() const { return data_.get(); }
  std::int64_t size_bytes() const { return data_ == nullptr ? 0 : data_.get_deleter().size_bytes; }
  float* floats() const { return as<float>().data(); }
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data()), static_cast<std::size_t>(size_bytes()) / sizeof(T)};
  }

 private:
  struct Release {
    Device* device = nullptr;  ///< device that releases the memory; null: the memory is not owned
    std::int64_t size_bytes = 0;

    void operator()(std::byte* data) const noexcept {
      if (device != nullptr) (device->*kRelease)(data, size_bytes);
    }
  };
  std::unique_ptr<std::byte, Release> data_;
};

/// Owns memory of the device.
using Buffer = DeviceMemory<&Device::allocate, &Device::release>;

/// Owns memory of the host that the device also reads and writes, under the same address. The host sees values that the
/// device writes there after Device::synchronize() or the end of a copy.
using HostBuffer = DeviceMemory<&Device::allocate_host, &Device::release_host>;

/// Makes a CPU device with `threads` OpenMP threads per rank, fixed for the whole run. Its work is done when the call
/// that issues it returns.
std::unique_ptr<Device> make_cpu_device(std::int64_t threads);

}  // namespace convoy
